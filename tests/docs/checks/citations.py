"""What comments and pages cite exists: theorem ids in the ledger, keys in the bibliography, paths in the checkout."""

import re

# AS23.L4.7, SQ.OV, OV.HAM: a bibliography key or one of our own prefixes, a dot, a number or name.
THEOREM_ID = re.compile(
    r"(?<![\w.])((?:[A-Z][A-Za-z]*\d{2}|SQ|OV|ANN|MPC|PCP|GADGET)(?=\.[A-Z])(?:\.[A-Z][A-Z0-9]*|\.\d+)+)\b"
)
# AS23, Williams05: a name and two digits of a year. One letter (L25) is too little to tell from other words.
BIBLIOGRAPHY_KEY = re.compile(r"(?<![\w./`-])([A-Z][A-Za-z]+\d{2})(?![\w])")
NOT_KEYS = re.compile(r"CLI11|SSE4\d|(Float|Int|UInt|UTF|Utf|Base)\d\d")
PATH = re.compile(
    r"(?<![\w./-])"
    r"((?:docs|lib|sat|reductions|verifiers|drivers|tests|bench|cmake)/[\w./-]*"
    r"\.(?:cpp|hpp|md|yaml|bib|py|cnf|cmake\.in|cmake|pc\.in|txt))\b"
)


def _lines(book):
    for path, text in book.pages.items():
        for number, line in enumerate(text.splitlines(), 1):
            yield path, number, line
    for path, comments in book.comments.items():
        for number, line in comments:
            yield path, number, line


def theorem_ids(book):
    """Every theorem id in a comment or page resolves in docs/theorems.yaml, and so does every reduction's `claim`."""
    found = []
    for path, number, line in _lines(book):
        for cited in THEOREM_ID.findall(line):
            if cited not in book.ledger_ids:
                found.append(f"{path}:{number}: {cited} is not in docs/theorems.yaml")
    for path, text in book.sources.items():
        if not path.startswith("reductions/"):
            continue
        for claim in re.findall(r'\bclaim\s*=\s*"([^"]*)"', text):
            if claim not in book.ledger_ids:
                found.append(f'{path}: claim "{claim}" is not in docs/theorems.yaml')
    return found


def bibliography_keys(book):
    """Every key cited is in docs/references.bib, and every entry there is cited."""
    found, cited = [], {str(entry.get("key")) for entry in book.ledger if isinstance(entry, dict)}
    for path, number, line in _lines(book):
        for key in BIBLIOGRAPHY_KEY.findall(line):
            cited.add(key)
            if key not in book.bibliography and not NOT_KEYS.fullmatch(key) and key not in book.ledger_ids:
                found.append(f"{path}:{number}: {key} is not in docs/references.bib")
        for key in book.bibliography:
            if re.search(rf"(?<!\w){re.escape(key)}(?!\w)", line):
                cited.add(key)
    for key in sorted(set(book.bibliography) - cited):
        found.append(f"docs/references.bib: {key} is cited nowhere")
    return found


def paths(book):
    """Every path of this repository that a comment or page mentions exists."""
    found = []
    for path, number, line in _lines(book):
        for mentioned in PATH.findall(line):
            # x.hpp, x_to_y.cpp and STEM_test.cpp stand for any name.
            if re.search(r"(^|/)(x(_to_y|_\w+)?[.-]|[A-Z]+[/_])", mentioned):
                continue
            if not book.exists(mentioned):
                found.append(f"{path}:{number}: {mentioned} does not exist")
    return found


CHECKS = (theorem_ids, bibliography_keys, paths)

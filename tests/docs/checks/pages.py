"""Pages: links resolve, the README stays short, quoted examples equal their files."""

import re
from pathlib import PurePosixPath

README_LINES = 120
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
QUOTED_FILE = re.compile(r"^<!-- file: (\S+) -->\n```\w*\n(.*?)^```$", re.M | re.S)


def _anchors(text):
    """Anchors that a page's headings get: lower case, blanks to hyphens, punctuation dropped."""
    found = set()
    for heading in re.findall(r"^#+\s+(.*?)\s*$", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), re.M):
        plain = re.sub(r"[`*]|\[|\]\([^)]*\)", "", heading).lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return found


def links(book):
    """Every relative link leads to a file, and its #anchor to a heading."""
    found = []
    for path, text in book.pages.items():
        for number, line in enumerate(re.sub(r"`[^`\n]*`", "``", text).splitlines(), 1):
            for target in LINK.findall(line):
                if re.match(r"[a-z]+:", target):
                    continue
                file, _, anchor = target.partition("#")
                base = (book.root / PurePosixPath(path).parent / file).resolve() if file else book.root / path
                if not base.exists():
                    found.append(f"{path}:{number}: link to {target}, which does not exist")
                elif anchor and base.suffix == ".md" and anchor not in _anchors(base.read_text(encoding="utf-8")):
                    found.append(f"{path}:{number}: link to {target}, but no heading gives #{anchor}")
    return found


def readme(book):
    """The README fits in two screens; everything else is in docs/."""
    lines = len(book.read("README.md").splitlines())
    return [f"README.md: {lines} lines, limit {README_LINES}"] if lines > README_LINES else []


def examples(book):
    """A fence below `<!-- file: PATH -->` equals that file; each program of docs/examples is quoted in some page."""
    found, quoted = [], set()
    for path, text in book.pages.items():
        for file, content in QUOTED_FILE.findall(text):
            quoted.add(file)
            if not book.exists(file):
                found.append(f"{path}: quotes {file}, which does not exist")
            elif content != book.read(file):
                found.append(f"{path}: its copy of {file} differs from the file")
        if text.count("<!-- file: ") != len(QUOTED_FILE.findall(text)):
            found.append(f"{path}: a '<!-- file: PATH -->' line without a fence right below it")
    for source in book.sources:
        if source.startswith("docs/examples/") and source not in quoted:
            found.append(f"{source}: no page quotes this example")
    return found


CHECKS = (links, readme, examples)

"""docs/theorems.yaml: every theorem in the code, with its test and the control that shows the test's power."""

import re

STATUSES = {
    "proved-elsewhere": ("key", "number", "header", "test", "control"),  # the source has the proof
    "ours": ("proof", "header", "test", "control"),  # the proof is a page of ours
    "measured": ("header", "test"),  # no theorem: a number, with the test that takes it
    "open": (),  # stated, not yet in the code
}
FIELDS = {"id", "title", "statement", "key", "number", "status", "proof", "header", "claim", "test", "control"}
TEST_MACROS = r"(?:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P|RC_GTEST_PROP|RC_GTEST_FIXTURE_PROP)"


def _place(book, what, value):
    """`PATH` or `PATH: NAME`; NAME is a GoogleTest name Suite.Test, or a word that the file contains."""
    path, _, name = str(value).partition(": ")
    if not book.exists(path):
        return [f"{what}: {path} does not exist"]
    if not name:
        return []
    text = book.read(path)
    gtest = re.fullmatch(r"(\w+)\.(\w+)", name)
    if gtest:
        if not re.search(rf"\b{TEST_MACROS}\s*\(\s*{gtest[1]}\s*,\s*{gtest[2]}\s*[,)]", text):
            return [f"{what}: {path} has no test {name}"]
    elif not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text):
        return [f"{what}: {path} does not contain {name}"]
    return []


def entries(book):
    """Entries are complete for their status; paths and test names exist; headers say which theorem they implement."""
    found, seen = [], set()
    if not book.ledger:
        return ["docs/theorems.yaml: missing, empty, or not a list of entries"]
    for position, entry in enumerate(book.ledger, 1):
        if not isinstance(entry, dict) or not entry.get("id"):
            found.append(f"docs/theorems.yaml: entry {position} has no id")
            continue
        what = f"docs/theorems.yaml: {entry['id']}"
        if entry["id"] in seen:
            found.append(f"{what}: twice")
        seen.add(entry["id"])
        for field in sorted(set(entry) - FIELDS):
            found.append(f"{what}: unknown field {field}")
        status = entry.get("status")
        if status not in STATUSES:
            found.append(f"{what}: status {status!r}, expected one of {', '.join(STATUSES)}")
            continue
        for field in ("title", "statement") + STATUSES[status]:
            if not entry.get(field):
                found.append(f"{what}: a theorem that is {status} needs the field {field}")
        if entry.get("key") and entry["key"] not in book.bibliography:
            found.append(f"{what}: key {entry['key']} is not in docs/references.bib")
        for field in ("proof", "header", "claim", "test", "control"):
            for value in entry[field] if isinstance(entry.get(field), list) else [entry.get(field)]:
                if value:
                    found += _place(book, f"{what}: {field}", value)
        header = entry.get("header")
        if header and book.exists(header) and entry["id"] not in book.read(header):
            found.append(f"{what}: {header} does not mention {entry['id']}")
    return found


CHECKS = (entries,)

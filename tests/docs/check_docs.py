#!/usr/bin/env python3
"""Checks that the documentation tells the truth. Exit status 0: nothing found, 1: findings, one a line.

Usage: check_docs.py [--root FOLDER] [--subquad PROGRAM] [--check NAME]...    (needs PyYAML; the checks are in checks/)
Without --subquad the transcripts are not run again, and a line says so.
"""

import argparse
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # a check leaves nothing behind in the source tree

from checks import citations, doc_comments, ledger, pages, transcripts  # noqa: E402
from checks.book import Book  # noqa: E402

CHECKS = {
    check.__name__: check for module in (ledger, citations, pages, doc_comments, transcripts) for check in module.CHECKS
}


def findings(root, subquad=None, only=()):
    """What the checks named in `only` (all if empty) find in the checkout at `root`."""
    book = Book(root, subquad)
    return [finding for name, check in CHECKS.items() if not only or name in only for finding in check(book)]


def main():
    parser = argparse.ArgumentParser(
        description="Checks ledger, citations, links, doc comments, examples and transcripts."
    )
    parser.add_argument("--root", default=Path(__file__).resolve().parents[2], help="root of the checkout")
    parser.add_argument("--subquad", help="the command, to run the transcripts of the pages again")
    parser.add_argument("--check", action="append", default=[], choices=sorted(CHECKS), help="run this check only")
    arguments = parser.parse_args()
    found = findings(arguments.root, arguments.subquad, arguments.check)
    for finding in found:
        print(finding)
    if found:
        print(f"docs: {len(found)} findings", file=sys.stderr)
        return 1
    book = Book(arguments.root)
    print(
        f"docs: {len(CHECKS)} checks hold on {len(book.pages)} pages, {len(book.ledger)} theorems, "
        f"{len(book.public_headers)} public headers"
    )
    if not arguments.subquad:
        print("docs: transcripts were not run again (no --subquad)")
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Checks what keeps the rooms apart and the registries complete. Exit status 0: nothing, 1: violations, one a line.

Usage: check_layering.py [--root FOLDER] [--rule NAME]...    (standard library only; the rules are in rules/)
"""

import argparse
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # a check leaves nothing behind in the source tree

from rules import conventions, includes, registries  # noqa: E402
from rules.tree import Tree  # noqa: E402

RULES = {rule.__name__: rule for module in (includes, registries, conventions) for rule in module.RULES}


def check(root, only=()):
    """Violations of the rules named in `only` (all if empty) in the checkout at `root`."""
    tree = Tree(root)
    return [violation for name, rule in RULES.items() if not only or name in only for violation in rule(tree)]


def main():
    parser = argparse.ArgumentParser(description="Checks layering, registries and conventions.")
    parser.add_argument("--root", default=Path(__file__).resolve().parents[2], help="root of the checkout")
    parser.add_argument("--rule", action="append", default=[], choices=sorted(RULES), help="check this rule only")
    arguments = parser.parse_args()
    violations = check(arguments.root, arguments.rule)
    for violation in violations:
        print(violation)
    if violations:
        print(f"layering: {len(violations)} violations", file=sys.stderr)
        return 1
    tree = Tree(arguments.root)
    print(f"layering: {len(RULES)} rules hold on {len(tree.sources)} sources in {len(tree.rooms)} rooms")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Doc comments: each declaration at namespace level of a public header has a `///` block right above it.

A reading of the text, not a parser. Declarations that follow one another without a blank line share the first one's
block (`checked_add` and `checked_mul`). Forward declarations and namespace detail need none. The errors that a block
promises (`throws Error(kind)`) use kinds that exist.
"""

import re

KINDS_HEADER = "lib/core/error.hpp"


def _without_strings(line):
    return re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])*\'', '""', line)


def undocumented(text):
    """[(line number, declaration)] of declarations at namespace level without a block."""
    found = []
    stack = []  # one letter an open brace: n namespace, d namespace detail, b anything else
    documented = False  # is the group that the current line belongs to documented?
    inside = False  # are we in the middle of a declaration?
    for number, raw in enumerate(text.splitlines(), 1):
        code, _, comment = _without_strings(raw).partition("//")
        code = code.strip()
        at_namespace = all(kind in "nd" for kind in stack)
        if not inside and at_namespace:
            if not code:
                if comment.startswith("/"):
                    documented = True
                elif not comment:
                    documented = False  # a blank line ends the group
                continue
            if code.startswith("#"):
                documented = False
                continue
            opens_namespace = re.match(r"(inline\s+)?namespace\b", code)
            if opens_namespace:
                kind = "d" if re.search(r"\b(detail|HWY_NAMESPACE)\b", code) else "n"
                stack += [kind] * code.count("{")
                for _ in range(code.count("}")):
                    stack.pop()
                documented = False
                continue
            if code.startswith("}"):
                for _ in range(code.count("}")):
                    if stack:
                        stack.pop()
                continue
            forward = re.match(r"(template\s*<[^{}]*>\s*)?(class|struct|enum(\s+class)?)\s+\w+(\s*:\s*\w+)?\s*;", code)
            instantiation = re.match(r"extern\s+template\b", code)
            if not (documented or forward or instantiation or comment.startswith("/<") or "d" in stack):
                found.append((number, code))
            documented = documented or bool(comment.startswith("/<"))
            inside = True
        for character in code:
            if character == "{":
                stack.append("b")
            elif character == "}" and stack:
                stack.pop()
        if inside and all(kind in "nd" for kind in stack) and re.search(r"[;}]$", code):
            inside = False
    return found


def doc_comments(book):
    """Public headers document what they declare."""
    found = []
    for path in book.public_headers:
        for number, declaration in undocumented(book.read(path)):
            found.append(f"{path}:{number}: no /// above: {declaration[:80]}")
    return found


def error_kinds(book):
    """`Error(kind)` in a doc comment names a kind of ErrorKind."""
    enum = re.search(r"enum class ErrorKind\s*\{(.*?)\};", book.read(KINDS_HEADER), re.S)
    kinds = set(re.findall(r"^\s*(\w+)\s*,?\s*(?://.*)?$", enum.group(1), re.M)) if enum else set()
    found = []
    for path in book.public_headers:
        for number, line in enumerate(book.read(path).splitlines(), 1):
            comment = line.partition("//")[2]
            for kind in re.findall(r"\bError\(([a-z]\w*)\)", comment):
                if kind not in kinds | {"kind"}:
                    found.append(f"{path}:{number}: Error({kind}): no such kind")
    return found


CHECKS = (doc_comments, error_kinds)

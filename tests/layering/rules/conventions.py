"""Conventions that a compiler does not know: lengths, names, guards, and comparisons that survive NaN."""

import re

WIDEST = 120  # columns, as in .clang-format, which leaves comments alone
LONGEST = 400  # lines; the natural limit of one-subject files (docs/developing.md)

# Files above the limit, each with the reason. Only generated tables and catalogues belong here.
LONG_FILES = {}

VAGUE_WORDS = {"util", "utils", "helper", "helpers", "misc", "common", "fast", "opt", "new", "v2"}


def length(tree):
    """No file is longer than the limit, and no exemption outlives its need."""
    found = []
    for source in tree.sources + tree.scripts:
        lines = len(source.lines)
        if lines > LONGEST and source.path not in LONG_FILES:
            found.append(f"{source.path}: {lines} lines, limit {LONGEST}: a file has one purpose")
    lengths = {source.path: len(source.lines) for source in tree.sources + tree.scripts}
    for path in LONG_FILES:
        if lengths.get(path, 0) <= LONGEST:
            found.append(f"{path}: exempted from the limit of {LONGEST} lines, but does not need it")
    return found


def width(tree):
    """No line of C++ is wider than the limit."""
    return [
        f"{source.path}:{number}: {len(line)} columns, limit {WIDEST}"
        for source in tree.sources
        for number, line in enumerate(source.lines, 1)
        if len(line) > WIDEST
    ]


def names(tree):
    """No file is called util, helper, misc, common, fast ...: the name says the subject in the field's terms."""
    found = []
    for source in tree.sources + tree.scripts:
        stem = source.stem
        for word in re.split(r"[_\-]", stem.lower()):
            if word in VAGUE_WORDS:
                found.append(f"{source.path}: '{word}' in a file name says nothing; name the subject")
        if source.path.endswith((".cpp", ".hpp", ".cu", ".cuh")) and not re.fullmatch(r"[a-z][a-z0-9_]*(-inl)?", stem):
            found.append(f"{source.path}: file names are snake_case")
    return found


def headers(tree):
    """Headers are guarded by #pragma once, open with a title comment and have no using-directive."""
    found = []
    for source in tree.sources:
        if source.path.endswith((".cpp", ".cu")):
            continue
        # Highway's per-target files are included once a target, so their guard toggles instead.
        per_target = source.name.endswith("-inl.hpp")
        if not per_target and not any(line.strip() == "#pragma once" for line in source.lines):
            found.append(f"{source.path}: no #pragma once")
        if not source.lines or not source.lines[0].startswith("// "):
            found.append(f"{source.path}:1: a header opens with a comment that says what it is")
        for number, line in enumerate(source.lines, 1):
            if re.match(r"\s*using\s+namespace\b", line):
                found.append(f"{source.path}:{number}: using-directive in a header")
    return found


def nan_proof(tree):
    """Tests never take std::max of errors: it drops NaN, so a kernel that returns NaN would pass."""
    found = []
    for source in tree.sources:
        if not source.path.startswith("tests/"):
            continue
        for number, line in enumerate(source.lines, 1):
            code = line.split("//", 1)[0]
            if re.search(r"\bstd::(ranges::)?(f?max|max_element)\s*\(", code) and re.search(
                r"err|diff|deviat|worst|abs\([^()]* - ", code, re.I
            ):
                found.append(
                    f"{source.path}:{number}: std::max on errors drops NaN; use max_abs_error of tests/support"
                )
            if re.search(r"(EXPECT|ASSERT)_FALSE\s*\(.*\b(err|error|diff)\w*\s*>[^=]", code):
                found.append(
                    f"{source.path}:{number}: 'not (error > tolerance)' accepts NaN; write 'error <= tolerance'"
                )
    return found


RULES = (length, width, names, headers, nan_proof)

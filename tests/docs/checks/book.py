"""What the checks look at: the pages, the ledger, the bibliography, and the sources that cite them."""

import re
from functools import cached_property
from pathlib import Path

import yaml

SOURCE_FOLDERS = ("lib", "sat", "reductions", "verifiers", "drivers", "bench", "tests", "docs/examples")
SOURCE_SUFFIXES = (".cpp", ".hpp", ".cu", ".cuh")
PAGE_FOLDERS = ("docs", "lib", "sat", "reductions", "verifiers", "drivers", "bench", "tests")


class Book:
    """A checkout, read once. `subquad` is the command to re-run transcripts with, or None to leave them out."""

    def __init__(self, root, subquad=None):
        self.root = Path(root).resolve()
        self.subquad = Path(subquad).resolve() if subquad else None

    def exists(self, path):
        return (self.root / path).exists()

    def read(self, path):
        return (self.root / path).read_text(encoding="utf-8") if (self.root / path).is_file() else ""

    def _files(self, folders, suffixes):
        found = {}
        for folder in folders:
            for path in sorted((self.root / folder).rglob("*")):
                if path.is_file() and path.name.endswith(suffixes):
                    found[path.relative_to(self.root).as_posix()] = path.read_text(encoding="utf-8")
        return found

    @cached_property
    def pages(self):
        """path -> text of every Markdown page."""
        top = {p.name: p.read_text(encoding="utf-8") for p in sorted(self.root.glob("*.md"))}
        return {**top, **self._files(PAGE_FOLDERS, (".md",))}

    @cached_property
    def sources(self):
        """path -> text of every C++ source."""
        return self._files(SOURCE_FOLDERS, SOURCE_SUFFIXES)

    @cached_property
    def comments(self):
        """path -> [(line number, text)] of the comments, and of the strings on lines that name a citation or claim."""
        found = {}
        for path, text in self.sources.items():
            lines = []
            for number, line in enumerate(text.splitlines(), 1):
                if "//" in line:
                    lines.append((number, line.split("//", 1)[1]))
                elif re.search(r"\b(citation|claim)\b", line):
                    lines.append((number, " ".join(re.findall(r'"([^"]*)"', line))))
            found[path] = lines
        return found

    @cached_property
    def ledger(self):
        """Entries of docs/theorems.yaml; raises yaml.YAMLError if it is no YAML."""
        entries = yaml.safe_load(self.read("docs/theorems.yaml"))
        return entries if isinstance(entries, list) else []

    @cached_property
    def ledger_ids(self):
        return {str(entry.get("id")) for entry in self.ledger if isinstance(entry, dict)}

    @cached_property
    def bibliography(self):
        """key -> text of the entry in docs/references.bib."""
        parts = re.split(r"^@\w+\{", self.read("docs/references.bib"), flags=re.M)[1:]
        return {part.split(",", 1)[0].strip(): part for part in parts}

    @cached_property
    def public_headers(self):
        """Paths of the headers listed in the rooms' CMake files."""
        found = []
        for path in sorted(self.root.rglob("CMakeLists.txt")):
            if "build" in path.relative_to(self.root).parts:
                continue
            text = re.sub(r"#.*", "", path.read_text(encoding="utf-8"))
            for folder, rest in re.findall(r"subquad_room\(\s*NAME\s+\w+\s+DIR\s+(\S+)(.*?)\)", text, re.S):
                inside = re.search(r"\bHEADERS\b(.*?)(?=\b(?:SOURCES|DEPS|PRIVATE_DEPS)\b|$)", rest, re.S)
                found += [f"{folder}/{name}" for name in (inside.group(1).split() if inside else [])]
        return found

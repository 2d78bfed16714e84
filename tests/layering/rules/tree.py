"""What the rules look at: the source files of a checkout, their includes, and the rooms that CMake declares."""

import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

SOURCE_FOLDERS = ("lib", "sat", "reductions", "verifiers", "drivers", "bench", "tests", "docs/examples")
SOURCE_SUFFIXES = (".cpp", ".hpp", ".cu", ".cuh")
SCRIPT_SUFFIXES = (".py", ".sh", ".cmake", ".in")

_INCLUDE = re.compile(r'^\s*#\s*include\s*(<[^>]+>|"[^"]+")')
_ROOM_CALL = re.compile(r"subquad_room\(\s*NAME\s+(\w+)\s+DIR\s+(\S+)(.*?)\)", re.S)
_ROOM_KEYWORDS = ("HEADERS", "SOURCES", "DEPS", "PRIVATE_DEPS")


@dataclass(frozen=True)
class Include:
    """One include line: `name` without its delimiters, `quoted` for "name"."""

    line: int
    name: str
    quoted: bool


@dataclass
class Source:
    """One source file; `path` is relative to the root, with forward slashes."""

    path: str
    text: str

    @property
    def name(self):
        return self.path.rsplit("/", 1)[-1]

    @property
    def folder(self):
        return self.path.rsplit("/", 1)[0]

    @property
    def stem(self):
        return self.name.split(".", 1)[0]

    @cached_property
    def lines(self):
        return self.text.splitlines()

    @cached_property
    def includes(self):
        found = []
        for number, line in enumerate(self.lines, 1):
            match = _INCLUDE.match(line)
            if match:
                written = match.group(1)
                found.append(Include(number, written[1:-1], written[0] == '"'))
        return found


@dataclass
class Room:
    """One subquad_room call."""

    name: str
    folder: str
    headers: list = field(default_factory=list)
    sources: list = field(default_factory=list)
    dependencies: list = field(default_factory=list)  # names of rooms, public and private


class Tree:
    """A checkout, read once."""

    def __init__(self, root):
        self.root = Path(root)

    @cached_property
    def sources(self):
        found = []
        for folder in SOURCE_FOLDERS:
            for path in sorted((self.root / folder).rglob("*")):
                if path.is_file() and path.name.endswith(SOURCE_SUFFIXES):
                    relative = path.relative_to(self.root).as_posix()
                    found.append(Source(relative, path.read_text(encoding="utf-8")))
        return found

    @cached_property
    def scripts(self):
        found = []
        for folder in SOURCE_FOLDERS + ("cmake",):
            for path in sorted((self.root / folder).rglob("*")):
                if path.is_file() and (path.name.endswith(SCRIPT_SUFFIXES) or path.name == "CMakeLists.txt"):
                    found.append(Source(path.relative_to(self.root).as_posix(), path.read_text(encoding="utf-8")))
        for name in ("dev", ".ci/run"):
            if self.exists(name):
                found.append(Source(name, self.read(name)))
        return found

    @cached_property
    def rooms(self):
        found = {}
        for path in sorted(self.root.rglob("CMakeLists.txt")):
            if "build" in path.relative_to(self.root).parts:
                continue
            text = re.sub(r"#.*", "", path.read_text(encoding="utf-8"))
            for name, folder, rest in _ROOM_CALL.findall(text):
                lists = {keyword: [] for keyword in _ROOM_KEYWORDS}
                current = None
                for word in rest.split():
                    if word in lists:
                        current = word
                    elif current:
                        lists[current].append(word)
                rooms = [
                    d.split("::", 1)[1] for d in lists["DEPS"] + lists["PRIVATE_DEPS"] if d.startswith("subquad::")
                ]
                found[name] = Room(name, folder, lists["HEADERS"], lists["SOURCES"], rooms)
        return found

    @cached_property
    def public_headers(self):
        """Paths of the headers that some room lists, that is, installs."""
        return {f"{room.folder}/{header}" for room in self.rooms.values() for header in room.headers}

    def room_of(self, path):
        """The room whose folder holds this file, or None (drivers, tests, bench)."""
        best = None
        for room in self.rooms.values():
            if path.startswith(room.folder + "/") and (best is None or len(room.folder) > len(best.folder)):
                best = room
        return best

    def exists(self, path):
        return (self.root / path).is_file()

    def read(self, path):
        """Text of a file, empty if there is none."""
        return (self.root / path).read_text(encoding="utf-8") if self.exists(path) else ""

"""Who may include whom: rooms, and libraries from outside."""

import re
from fnmatch import fnmatch

# Which rooms a room may include, besides itself. docs/developing.md shows the same table to people.
EVERYTHING = "everything"
ROOMS = {
    "core": set(),
    "device": {"core"},
    "exact": {"core"},
    "problems": {"core"},
    "sat": {"core"},
    "io": {"core", "problems"},
    "ann": {"core", "problems", "device"},
    "attention": {"core", "exact", "problems", "ann", "device"},
    "mpc": {"core", "problems"},
    "transformer": {"core", "problems"},
    "reductions": {"core", "exact", "problems", "sat", "mpc", "transformer"},
    "verifiers": {"core", "exact", "problems", "sat"},
    "claims": EVERYTHING,
}

# Tests of verifiers link nothing that produces answers, as the verifiers themselves.
TEST_ROOMS = {"verifiers": ROOMS["verifiers"] | {"verifiers"}}

# Where quoted includes may be found besides the own folder: shared parts of tests; the command's parts that tests call.
QUOTED_FOLDERS = {"tests/cli": ("drivers",)}
SHARED_TEST_FOLDER = "tests/support"

# Libraries from outside: a pattern of the include's name, where it may stand (patterns of paths), and whether a public
# header may name it.
OUTSIDE_ROOMS = ("drivers/*", "tests/*", "bench/*", "docs/examples/*")
LIBRARIES = [
    ("MPI", r"mpi\.h|boost/mpi(/.*|\.hpp)", ("lib/mpc/mpi_*.cpp", "tests/mpc/*"), False),
    (
        "CUDA",
        r"(cuda|cublas|cusparse|curand|nvrtc|nvml|cooperative_groups|mma\.h|thrust|cub)([_./].*|.*\.h)?",
        ("*_launch.cu", "lib/device/cuda_*"),
        False,
    ),
    ("CaDiCaL", r"cadical\.hpp|ccadical\.h", ("sat/cadical_*.cpp",), False),
    ("Highway", r"hwy/.*", ("*-inl.hpp", "beside -inl.hpp", "tests/*"), False),
    ("FAISS", r"faiss/.*", ("lib/ann/faiss_*.cpp", "bench/*"), False),
    ("CLI11", r"CLI/.*", ("drivers/*", "tests/*"), False),
    ("nlohmann-json", r"nlohmann/.*", ("drivers/*", "tests/*"), False),
    ("xxHash", r"xxhash\.h", ("lib/core/digest.cpp",), False),
    ("OpenMP", r"omp\.h", ("lib/core/*.cpp", "drivers/*.cpp", "tests/*", "bench/*"), False),
    ("MPFI", r"mpfi(_io)?\.h|boost/multiprecision/mpfi\.hpp", ("lib/exact/*", "tests/*"), True),
    (
        "MPFR",
        r"mpfr\.h|boost/multiprecision/mpfr\.hpp",
        ("lib/exact/*", "lib/attention/*.cpp", "verifiers/*.cpp", "tests/*"),
        True,
    ),
    ("GMP", r"gmp(xx)?\.h", ("lib/exact/*", "tests/*"), True),
    (
        "Eigen",
        r"(unsupported/)?Eigen/.*",
        ("lib/problems/*", "lib/io/*", "lib/attention/*", "lib/ann/*", "lib/exact/*", "reductions/*", "verifiers/*")
        + OUTSIDE_ROOMS,
        True,
    ),
    ("Boost", r"boost/.*", ("*",), True),
    ("fmt", r"fmt/.*", ("*",), True),
    ("GoogleTest", r"(gtest|gmock)/.*", ("tests/*",), False),
    ("rapidcheck", r"rapidcheck(/.*|\.h)", ("tests/*",), False),
    ("Google Benchmark", r"benchmark/.*", ("bench/*",), False),
    (
        "POSIX",
        # <stdlib.h>: setenv, mkdtemp
        r"sys/.+\.h|(stdlib|unistd|fcntl|signal|termios|poll|dirent|sched|spawn|glob)\.h",
        ("lib/core/*.cpp", "lib/attention/tile_buffer.hpp", "drivers/*.cpp", "tests/*", "bench/*"),
        False,
    ),
]
# <vector>, <cstdint>: the standard library's headers have neither folder nor suffix.
STANDARD = re.compile(r"[a-z_0-9]+")


def _may_stand(source, patterns, tree):
    for pattern in patterns:
        if pattern == "beside -inl.hpp":
            if source.name.endswith(".cpp") and tree.exists(f"{source.folder}/{source.stem}-inl.hpp"):
                return True
        elif fnmatch(source.path, pattern):
            return True
    return False


def libraries(tree):
    """Libraries from outside stand only where the table allows; an unknown one is refused until it has a line there."""
    found = []
    for source in tree.sources:
        public = source.path in tree.public_headers
        for include in source.includes:
            where = f"{source.path}:{include.line}"
            if include.quoted or include.name.startswith("subquad/"):
                continue
            for title, pattern, places, in_public in LIBRARIES:
                if re.fullmatch(pattern, include.name):
                    if public and not in_public:
                        found.append(f"{where}: <{include.name}>: a public header must not name {title}")
                    elif not _may_stand(source, places, tree):
                        found.append(f"{where}: <{include.name}>: {title} may be named only in {', '.join(places)}")
                    break
            else:
                if not STANDARD.fullmatch(include.name):
                    found.append(f"{where}: <{include.name}>: unknown library; give it a line in {__name__}.LIBRARIES")
    return found


def rooms(tree):
    """The table allows each include of another room and each dependency; quoted includes stay in their folder."""
    found = []
    for room in tree.rooms.values():
        if room.name not in ROOMS:
            found.append(f"{room.folder}/CMakeLists.txt: room {room.name} has no line in {__name__}.ROOMS")
            continue
        allowed = ROOMS[room.name]
        for dependency in room.dependencies:
            if allowed != EVERYTHING and dependency not in allowed:
                found.append(f"{room.folder}/CMakeLists.txt: room {room.name} must not depend on {dependency}")
    for source in tree.sources:
        found += _room_includes(tree, source)
    return found


def _room_includes(tree, source):
    found = []
    room = tree.room_of(source.path)
    allowed = EVERYTHING
    if room:
        allowed = ROOMS.get(room.name, set())
        allowed = allowed if allowed == EVERYTHING else allowed | {room.name}
    elif source.path.startswith("tests/"):
        allowed = TEST_ROOMS.get(source.path.split("/")[1], EVERYTHING)
    for include in source.includes:
        where = f"{source.path}:{include.line}"
        if include.quoted:
            places = (source.folder, *QUOTED_FOLDERS.get(source.folder, ()))
            if source.path.startswith("tests/"):
                places += (SHARED_TEST_FOLDER,)
            if ".." in include.name.split("/") or not any(tree.exists(f"{place}/{include.name}") for place in places):
                found.append(f'{where}: "{include.name}": quoted includes name a file of the same folder')
            continue
        if not include.name.startswith("subquad/"):
            continue
        parts = include.name.split("/")
        target = tree.rooms.get(parts[1]) if len(parts) == 3 else None
        if target is None or parts[2] not in target.headers:
            found.append(f"{where}: <{include.name}>: no room lists this header")
        elif allowed != EVERYTHING and parts[1] not in allowed:
            reader = f"room {room.name}" if room else source.folder
            found.append(f"{where}: <{include.name}>: {reader} must not include {parts[1]}")
    return found


RULES = (libraries, rooms)

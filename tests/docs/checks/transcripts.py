"""Transcripts: each `$ subquad ...` in a ```console fence is run again, from the root, and must print the same.

Measured quantities are masked on both sides (times, rates, peak memory, errors), runs of blanks count as one, and a
line that is just `...` stands for any lines. `$ echo $?` shows the exit status of the command before it. Other
commands are not run.
"""

import re
import shlex
import subprocess

FENCE = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
MASKS = [
    (re.compile(r"\b\d+(\.\d+)?(e[-+]?\d+)? ?(s|ms|us|µs|ns|min|h)\b"), "<time>"),
    (re.compile(r"\b\d+(\.\d+)?[kMG]?(/s)? multiply-adds(/s)?"), "<rate>"),
    (re.compile(r"\b\d+(\.\d+)?(e[-+]?\d+)? ?(M|G|k)?(pairs|rows|keys)?/s\b"), "<rate>"),
    (re.compile(r"\berror <= \d+(\.\d+)?(e[-+]?\d+)?"), "error <= <measured>"),
    (re.compile(r"\b\d+(\.\d+)? ?(B|KiB|MiB|GiB)( peak\b|(?= of memory)|(?= at the peak))"), "<memory>"),
    (re.compile(r"(peak memory:?) +\d+(\.\d+)? ?(B|KiB|MiB|GiB)"), r"\1 <memory>"),
]
TIMEOUT_SECONDS = 120


def masked(line):
    """The line with measured quantities replaced and blanks squeezed."""
    for pattern, mask in MASKS:
        line = pattern.sub(mask, line)
    return re.sub(r"\s+", " ", line).strip()


def matches(expected, actual):
    """Do the lines agree, `...` standing for any number of lines?"""
    if "..." not in expected:
        return expected == actual
    head = expected.index("...")
    if expected[:head] != actual[:head]:
        return False
    rest = expected[head + 1 :]
    return any(matches(rest, actual[start:]) for start in range(head, len(actual) + 1))


def commands(fence):
    """[(command, output lines)] of one fence."""
    found = []
    for line in fence.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found:
            found[-1][1].append(line)
    return found


def _first_difference(expected, actual):
    for wanted, got in zip(expected, actual):
        if wanted != got:
            return f"the page has {wanted!r}, the command prints {got!r}"
    return f"the page has {len(expected)} lines, the command prints {len(actual)}"


def transcripts(book):
    """Every transcript is what the command prints today."""
    found = []
    if book.subquad is None:
        return found
    environment = {"PATH": f"{book.subquad.parent}:/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}
    for path, text in book.pages.items():
        for fence in FENCE.findall(text):
            status = None
            for command, output in commands(fence):
                if command == "echo $?":
                    if status is not None and output[:1] != [str(status)]:
                        found.append(f"{path}: $ echo $?: the page has {' '.join(output)}, the status is {status}")
                    continue
                status = None
                if not re.match(r"subquad\b", command):
                    continue
                run = ["bash", "-c", command] if re.search(r"[|<>;&]", command) else shlex.split(command)
                try:
                    done = subprocess.run(
                        run,
                        cwd=book.root,
                        env=environment,
                        stdin=subprocess.DEVNULL,
                        text=True,
                        stdout=subprocess.PIPE,
                        stderr=subprocess.STDOUT,
                        timeout=TIMEOUT_SECONDS,
                    )
                except (OSError, subprocess.TimeoutExpired) as error:
                    found.append(f"{path}: $ {command}: {error}")
                    continue
                status = done.returncode
                expected = [masked(line) for line in output if line.strip()]
                actual = [masked(line) for line in done.stdout.splitlines() if line.strip()]
                if not matches(expected, actual):
                    found.append(f"{path}: $ {command}: {_first_difference(expected, actual)}")
    return found


CHECKS = (transcripts,)

#!/usr/bin/env python3
"""Golden transcripts: each `$ subquad ...` of transcripts/*.txt prints what the file says, stdout and stderr as one.

What is measured (times, rates, memory, proved errors that depend on the processor's vectors) is masked on both sides. The
commands of a file run one after the other in a folder of their own, with docs/examples as `examples`. After a deliberate
change: SUBQUAD_WRITE_TRANSCRIPTS=1 tests/cli/transcripts_test.py, and read the difference before you commit it.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True

from subquad_command import ROOT, SUBQUAD, CommandTest, main  # noqa: E402

FOLDER = Path(__file__).resolve().parent / "transcripts"
MASKS = [
    (re.compile(r"\b\d+(\.\d+)? (us|ms|s|min|h)\b( \d+ (s|min)\b)?"), "<time>"),
    (re.compile(r"\b[\d.]+[kMG]?/s\b"), "<rate>"),
    (re.compile(r"peak memory [\d.]+ \w+"), "peak memory <memory>"),
    (re.compile(r"[\d.]+ [KMGT]?i?B \(80% of the free memory\)"), "<memory> (80% of the free memory)"),
    (re.compile(r"error <= [\d.e+-]+"), "error <= <bound>"),
    (re.compile(r"(c?) ?subquad \d+\.\d+\.\d+"), r"\1 subquad <version>"),
]


def masked(text):
    for pattern, mask in MASKS:
        text = pattern.sub(mask, text)
    return text


def commands(text):
    """[(command, expected output)]"""
    pieces = re.split(r"(?m)^\$ (.*)\n", text)
    assert pieces[0] == "", "a transcript starts with a command"
    return list(zip(pieces[1::2], pieces[2::2]))


class Transcripts(CommandTest):
    def test_every_transcript(self):
        files = sorted(FOLDER.glob("*.txt"))
        self.assertGreaterEqual(len(files), 6)
        environment = {**os.environ, "PATH": f"{Path(SUBQUAD).parent}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
        for file in files:
            folder = self.folder / file.stem
            folder.mkdir()
            (folder / "examples").symlink_to(ROOT / "docs" / "examples")
            written = ""
            for command, expected in commands(file.read_text()):
                done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False)
                actual = masked(done.stdout) + (f"[status {done.returncode}]\n" if done.returncode else "")
                written += f"$ {command}\n{actual}"
                if not os.environ.get("SUBQUAD_WRITE_TRANSCRIPTS"):
                    with self.subTest(file=file.name, command=command):
                        self.assertEqual(actual, expected)
            if os.environ.get("SUBQUAD_WRITE_TRANSCRIPTS"):
                file.write_text(written)

    def test_masks_leave_what_counts(self):
        self.assertEqual(masked("built in 94 us, 6.1G/s, u in [0.1, 0.2], num_a 1024"), "built in <time>, <rate>, u in [0.1, 0.2], num_a 1024")


if __name__ == "__main__":
    main()

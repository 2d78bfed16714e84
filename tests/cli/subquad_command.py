"""What the tests of the command share: running it, little inputs, and the promises that hold for every error."""

import json
import os
import subprocess
import tempfile
import unittest
from collections import namedtuple
from pathlib import Path

SUBQUAD = os.environ.get("SUBQUAD", "")
ROOT = Path(__file__).resolve().parents[2]
PROGRAM_KERNEL = Path(__file__).resolve().parent / "npy_attention.py"

DONE, REFUTED, BAD_USAGE, RESOURCE_GUARD, UNDECIDED, SATISFIABLE, UNSATISFIABLE, INTERRUPTED = 0, 1, 2, 3, 4, 10, 20, 130

# (x1 or x2) and (not x1 or x3) and (not x2 or not x3) and (x1 or x3): satisfiable, by x1 = 1, x2 = 0, x3 = 1 for one.
SATISFIABLE_CNF = "p cnf 3 4\n1 2 0\n-1 3 0\n-2 -3 0\n1 3 0\n"
UNSATISFIABLE_CNF = "p cnf 2 4\n1 2 0\n-1 2 0\n1 -2 0\n-1 -2 0\n"

Result = namedtuple("Result", "status out err")


class CommandTest(unittest.TestCase):
    """A test in a folder of its own."""

    maxDiff = None

    def setUp(self):
        self.assertTrue(SUBQUAD, "the environment variable SUBQUAD names no command")
        folder = tempfile.TemporaryDirectory(prefix="subquad-cli-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def run_raw(self, *arguments, stdin=b"", timeout=120, env=None):
        done = subprocess.run(
            [SUBQUAD, *map(str, arguments)],
            input=stdin if isinstance(stdin, bytes) else stdin.encode(),
            cwd=self.folder,
            env={**os.environ, **(env or {})},
            capture_output=True,
            timeout=timeout,
        )
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    def expect(self, status, *arguments, **options):
        """Runs, checks the status, returns the result."""
        result = self.run_raw(*arguments, **options)
        self.assertEqual(result.status, status, f"{arguments}\nstdout: {result.out}\nstderr: {result.err}")
        return result

    def expect_json(self, status, *arguments, **options):
        result = self.expect(status, *arguments, "--json", "--quiet", **options)
        return json.loads(result.out)

    def expect_error(self, status, part, *arguments, **options):
        """One line on stderr with `part` in it, nothing on stdout, no new file."""
        before = sorted(self.folder.iterdir())
        result = self.expect(status, *arguments, **options)
        self.assertEqual(result.out, "", arguments)
        self.assertEqual(result.err.count("\n"), 1, result.err)
        self.assertTrue(result.err.endswith("\n"))
        self.assertIn(part, result.err, arguments)
        self.assertEqual(sorted(self.folder.iterdir()), before, "an error left a file")
        return result

    def assert_model(self, cnf_text, answer_text):
        """The `v` lines satisfy every clause: checked here, by other code than the command's."""
        self.assertIn("s SATISFIABLE\n", answer_text)
        literals = [int(x) for line in answer_text.splitlines() if line.startswith("v ") for x in line.split()[1:]]
        self.assertEqual(literals[-1], 0)
        model = set(literals[:-1])
        self.assertFalse(any(-x in model for x in model))
        clauses, clause = [], []
        for line in cnf_text.splitlines():
            if line.startswith(("c", "p")):
                continue
            for x in map(int, line.split()):
                if x == 0:
                    clauses.append(clause)
                    clause = []
                else:
                    clause.append(x)
        for clause in clauses:
            self.assertTrue(model & set(clause), f"clause {clause} is not satisfied")


def program_kernel(fault=None):
    """A `--kernel` value for the program kernel in plain Python."""
    return f"cmd:python3 '{PROGRAM_KERNEL}' {{q}} {{k}} {{v}} {{out}} {{scale}}" + (f" --fault {fault}" if fault else "")


def main():
    unittest.main(verbosity=1)

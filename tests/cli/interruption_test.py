#!/usr/bin/env python3
"""Interruption: SIGINT and SIGTERM end the command in an orderly way, with status 130 and no file left behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True

from subquad_command import INTERRUPTED, SUBQUAD, CommandTest, main  # noqa: E402

# 28 variables: minutes of MPFR, or seconds of a float kernel with many clauses.
LONG = "p cnf 28 2000\n" + "1 2 -3 0\n" * 2000


def living_members(group):
    """Process ids of the group that are no zombies."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


class Interruption(CommandTest):
    def interrupt(self, arguments, stdin=None, with_signal=signal.SIGINT, after=0.5, until=None, env=None):
        """Runs, sends the signal (`after` seconds, or as soon as `until()` holds), returns (status, stdout, stderr, seconds
        from the signal to the end)."""
        process = subprocess.Popen([SUBQUAD, *arguments], stdin=subprocess.PIPE if stdin is None else stdin, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, cwd=self.folder, env={**os.environ, **(env or {})})
        deadline = time.monotonic() + 60
        while until is not None and not until() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        if until is None:
            time.sleep(after)
        self.assertIsNone(process.poll(), "it ended before it could be interrupted")
        start = time.monotonic()
        process.send_signal(with_signal)
        status = process.wait(timeout=60)
        seconds = time.monotonic() - start
        out, err = process.stdout.read().decode(), process.stderr.read().decode()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                stream.close()
        return status, out, err, seconds

    def assert_orderly(self, result, files):
        status, out, err, seconds = result
        self.assertEqual((status, out), (INTERRUPTED, ""), err)
        self.assertEqual(err, "subquad: error: interrupted\n")
        self.assertLess(seconds, 20)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), sorted(files))

    def test_chain_with_both_signals(self):
        self.write("f.cnf", LONG)
        for with_signal in (signal.SIGINT, signal.SIGTERM):
            for kernel in ("exact", "rigorous"):
                arguments = ["chain", "f.cnf", "--quiet", "--kernel", kernel, "--force", "--threads", "1"]
                self.assert_orderly(self.interrupt(arguments, with_signal=with_signal), ["f.cnf"])

    def test_while_waiting_for_standard_input(self):
        self.assert_orderly(self.interrupt(["solve", "ov", "-", "-o", "out"], after=0.3), [])

    def test_solver(self):
        self.write("f.cnf", LONG)
        self.expect(0, "gen", "ov", "no", "-n", "200000", "-d", "200", "-o", "f.ov", "--quiet")
        (self.folder / "f.ov.answer").unlink()
        self.assert_orderly(self.interrupt(["solve", "ov", "f.ov", "-o", "out", "--quiet", "--threads", "1"], after=1.5), ["f.cnf", "f.ov"])

    def test_while_writing_a_large_file(self):
        self.write("f.cnf", "p cnf 48 8\n" + "1 -48 0\n" * 8)
        arguments = ["reduce", "cnf", "ov", "f.cnf", "-o", "out", "--quiet"]

        def writing():
            return any(p.name.startswith("out.tmp") and p.stat().st_size > 0 for p in self.folder.iterdir())

        self.assert_orderly(self.interrupt(arguments, until=writing), ["f.cnf"])

    def test_program_kernel_and_its_children_are_ended(self):
        self.write("f.cnf", "p cnf 2 1\n1 2 0\n")
        private = self.folder / "private"
        private.mkdir()
        kernel = f"cmd:echo $$ > {self.folder}/pid.new; mv {self.folder}/pid.new {self.folder}/pid; sleep 600; true {{q}} {{k}} {{v}} {{out}}"
        result = self.interrupt(["chain", "f.cnf", "--quiet", "--kernel", kernel], until=(self.folder / "pid").exists,
                                env={"TMPDIR": str(private)})
        self.assert_orderly(result, ["f.cnf", "pid", "private"])
        self.assertEqual(list(private.iterdir()), [])
        group = int((self.folder / "pid").read_text())
        self.assertEqual(living_members(group), [])


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Progress: drawn on a terminal only, with the share done, the rate and the time left, and wiped afterwards."""

import os
import pty
import subprocess
import sys

sys.dont_write_bytecode = True

from subquad_command import SUBQUAD, UNSATISFIABLE, CommandTest, main  # noqa: E402

# 24 variables and many clauses: a kernel of some seconds on one thread.
SLOW = "p cnf 24 2000\n24 0\n-24 0\n" + "1 2 -3 0\n" * 1998


class Progress(CommandTest):
    def on_a_terminal(self, *arguments):
        """Runs with stderr on a terminal of its own; returns (status, what the terminal got)."""
        try:
            master, slave = pty.openpty()
        except OSError as error:  # a container without /dev/pts
            self.skipTest(f"no pseudo-terminal here: {error}")
        process = subprocess.Popen([SUBQUAD, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=slave, cwd=self.folder)
        os.close(slave)
        chunks = []
        while True:
            try:
                chunk = os.read(master, 4096)
            except OSError:  # the terminal is gone: the process has ended
                break
            if not chunk:
                break
            chunks.append(chunk)
        os.close(master)
        return process.wait(timeout=120), b"".join(chunks).decode()

    def setUp(self):
        super().setUp()
        self.write("f.cnf", SLOW)
        self.arguments = ("chain", "f.cnf", "--kernel", "exact", "--threads", "1")

    def test_drawn_on_a_terminal(self):
        status, text = self.on_a_terminal(*self.arguments)
        self.assertEqual(status, UNSATISFIABLE)
        lines = [piece for piece in text.split("\r\x1b[K") if " left" in piece]
        self.assertGreaterEqual(len(lines), 2)
        for line in lines:
            self.assertRegex(line, r"^[\w ,()-]+: \d+% of \d+, [\d.]+[kMG]?/s, .+ left$")
        shares = [int(line.split("%")[0].split(": ")[1]) for line in lines]
        self.assertTrue(all(0 <= share <= 100 for share in shares), shares)

    def test_not_drawn_with_quiet_or_elsewhere(self):
        self.assertNotIn(" left", self.on_a_terminal(*self.arguments, "--quiet")[1])
        self.assertNotIn(" left", self.expect(UNSATISFIABLE, *self.arguments).err)


if __name__ == "__main__":
    main()

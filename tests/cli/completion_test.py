#!/usr/bin/env python3
"""The shipped bash completion: verbs, options, problems, generators."""

import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True

from subquad_command import ROOT, SUBQUAD, CommandTest, main  # noqa: E402

SCRIPT = ROOT / "drivers" / "completion" / "subquad.bash"


@unittest.skipUnless(shutil.which("bash"), "needs bash")
class Completion(CommandTest):
    def complete(self, *words):
        quoted = " ".join(f"'{w}'" for w in ("subquad", *words))
        program = f"source '{SCRIPT}'; COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _subquad; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        path = f"{Path(SUBQUAD).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, cwd=self.folder, env={**os.environ, "PATH": path}, check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_verbs(self):
        self.assertEqual(self.complete("ch"), ["chain"])
        self.assertEqual(set(self.complete("")), {"chain", "solve", "reduce", "lift", "graph", "verify", "exp", "attend", "anna", "experiment", "gen", "info", "--help", "--version"})

    def test_options_come_from_the_help(self):
        self.assertEqual(self.complete("chain", "f.cnf", "--ker"), ["--kernel"])
        self.assertEqual(self.complete("chain", "f.cnf", "--kernel", "r"), ["rigorous"])
        self.assertIn("--brute-force", self.complete("solve", "--"))

    def test_problems(self):
        self.assertEqual(self.complete("reduce", "c"), ["cnf"])
        self.assertEqual(self.complete("reduce", "cnf", "gap"), ["gap-ann"])

    def test_generators(self):
        self.assertEqual(set(self.complete("gen", "")) & {"cnf", "ov", "gap-ann", "attention"}, {"cnf", "ov", "gap-ann", "attention"})
        self.assertEqual(self.complete("gen", "cnf", "pi"), ["pigeonhole"])
        self.assertEqual(self.complete("gen", "cnf", "pigeonhole", "--pig"), ["--pigeons"])

    def test_files(self):
        self.write("formula.cnf", "")
        self.assertEqual(self.complete("chain", "form"), ["formula.cnf"])


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""subquad gen: every family makes what it says, the same from the same seed, with an answer that verifies."""

import sys

sys.dont_write_bytecode = True

from subquad_command import (BAD_USAGE, DONE, RESOURCE_GUARD, SATISFIABLE, SATISFIABLE_CNF, UNSATISFIABLE, CommandTest,  # noqa: E402
                             main)

# family -> arguments, and what `solve` must say (None: either)
CNF = {
    "uniform": (["-n", "12", "-m", "30"], None),
    "planted": (["-n", "12", "--ratio", "4", "--hide-complement"], SATISFIABLE),
    "pigeonhole": (["--pigeons", "4", "--holes", "3"], UNSATISFIABLE),
    "parity": (["--graph", "regular:8,3"], UNSATISFIABLE),
    "coloring": (["--graph", "cycle:5", "--colors", "2"], UNSATISFIABLE),
    "factoring": (["--number", "35", "--a-bits", "3", "--b-bits", "3"], SATISFIABLE),
}
OTHERS = {
    ("ov", "iid"): ["-n", "20", "--num-b", "30", "-d", "40"],
    ("ov", "constant-weight"): ["-n", "20", "-d", "24"],
    ("ov", "planted"): ["-n", "20", "-d", "24"],
    ("ov", "no"): ["-n", "20", "-d", "24"],
    ("gap-ann", "random"): ["-n", "9", "-d", "64", "--r-yes", "4", "--r-no", "12", "--num-near", "3"],
    ("gap-ann", "tight"): ["-n", "9", "-d", "24", "--r-yes", "4", "--r-no", "8", "--num-near", "3"],
    ("attention", "random"): ["-n", "5", "--num-keys", "7", "-d", "3", "--value-dim", "2", "-B", "2.5"],
}


class Generators(CommandTest):
    def test_cnf_families(self):
        for family, (arguments, status) in CNF.items():
            with self.subTest(family=family):
                self.expect(DONE, "gen", "cnf", family, *arguments, "-o", "f.cnf")
                solved = self.run_raw("solve", "cnf", "f.cnf")
                self.assertIn(solved.status, (SATISFIABLE, UNSATISFIABLE) if status is None else (status,))

    def test_other_families_solve_and_verify(self):
        for (kind, family), arguments in OTHERS.items():
            with self.subTest(kind=kind, family=family):
                self.expect(DONE, "gen", kind, family, *arguments, "-o", "f")
                self.expect(DONE, "solve", kind, "f", "-o", "g")
                self.expect(DONE, "verify", kind, "f", "g")

    def test_known_answers_go_into_the_sidecar_and_verify(self):
        for kind, family, arguments in [("cnf", "planted", ["-n", "12"]), ("ov", "planted", ["-n", "20", "-d", "24"]),
                                        ("ov", "planted", ["-n", "20", "-d", "24", "--model", "iid"]), ("ov", "no", ["-n", "9", "-d", "30"]),
                                        ("ov", "no", ["-n", "9", "-d", "30", "--guard"]),
                                        ("gap-ann", "random", OTHERS["gap-ann", "random"]), ("gap-ann", "tight", OTHERS["gap-ann", "tight"])]:
            with self.subTest(kind=kind, family=family):
                self.expect(DONE, "gen", kind, family, *arguments, "-o", "f")
                self.expect(DONE, "verify", kind, "f", "f.answer")
                (self.folder / "f.answer").unlink()

    def test_seeds(self):
        for kind, family, arguments in [("cnf", "uniform", ["-n", "20"]), ("ov", "iid", ["-n", "9", "-d", "30"]),
                                        ("attention", "random", ["-n", "3", "-d", "2"]), ("cnf", "parity", ["--graph", "regular:10,3"])]:
            def body(seed, kind=kind, family=family, arguments=arguments):
                text = self.expect(DONE, "gen", kind, family, *arguments, "-o", "-", "--seed", seed).out
                self.assertIn(f"seed: {seed}\n", text)
                return [line for line in text.splitlines() if not line.startswith(("c", "#"))]

            with self.subTest(kind=kind, family=family):
                self.assertEqual(body(7), body(7))
                self.assertNotEqual(body(7), body(8))
                self.assertNotEqual(body(0), body(1))

    def test_from_a_formula(self):
        self.write("f.cnf", SATISFIABLE_CNF)
        made = self.expect(DONE, "gen", "ov", "from-cnf", "f.cnf", "-o", "f.ov")
        self.assertIn("ov: num_a 4", made.err)
        self.assertRegex((self.folder / "f.ov").read_text(), r"c source: f.cnf \([0-9a-f]{32}\)\n")
        self.expect(DONE, "solve", "ov", "f.ov", "-o", "a")
        self.expect(SATISFIABLE, "lift", "cnf", "ov", "f.cnf", "a")
        for via in ("direct", "gap-ann"):
            self.expect(DONE, "gen", "attention", "from-cnf", "f.cnf", "--via", via, "-o", "f.att")
            self.expect(DONE, "solve", "attention", "f.att", "-o", "a")
            through = "cnf_to_ov,ov_to_attention" if via == "direct" else "cnf_to_ov,ov_to_gap_ann,gap_ann_to_attention"
            self.expect(SATISFIABLE, "lift", "cnf", "attention", "f.cnf", "a", "--through", through)

    def test_liberties_of_the_formula_are_reported(self):
        made = self.expect(DONE, "gen", "ov", "from-cnf", "-", "-o", "f.ov", stdin="p  cnf 1 1\n1 0\n%\n0\n")
        self.assertIn("standard input:3: '%'", made.err)

    def test_json_and_dry_run(self):
        report = self.expect_json(DONE, "gen", "ov", "planted", "-n", "20", "-d", "24", "-o", "f")
        self.assertEqual((report["schema"], report["family"], report["answer"]), ("subquad.gen/1", "planted", "f.answer"))
        self.assertEqual(report["sizes"], {"num_a": 20, "num_b": 20, "dim": 24})
        before = sorted(self.folder.iterdir())
        self.expect_json(DONE, "gen", "ov", "planted", "-n", "20", "-d", "24", "--dry-run")
        self.assertEqual(sorted(self.folder.iterdir()), before)

    def test_refusals(self):
        for part, arguments in [("--graph", ["cnf", "coloring", "--graph", "star:5"]), ("vertices", ["cnf", "parity", "--graph", "cycle:x"]),
                                ("Excludes", ["cnf", "uniform", "-n", "5", "-m", "3", "--ratio", "2"]),
                                ("1 <= k", ["cnf", "uniform", "-n", "2"]), ("-n", ["ov", "iid", "-d", "3", "--variables", "3"]),
                                ("no output", ["ov", "iid", "-d", "3", "-n", "3"])]:
            with self.subTest(arguments=arguments):
                output = [] if part == "no output" else ["-o", "x"]
                result = self.run_raw("gen", *arguments, *output)
                self.assertEqual((result.status, result.out, result.err.count("\n")), (BAD_USAGE, "", 1), result.err)
                self.assertFalse((self.folder / "x").exists())

    def test_guard(self):
        for arguments in (["ov", "iid", "-n", "1000000000000", "-d", "64"], ["cnf", "uniform", "-n", "1000000000", "-m", "100000000000000"],
                          ["attention", "random", "-n", "100000000", "-d", "100000"],
                          ["gap-ann", "random", "-n", "1000000000000", "-d", "64", "--r-yes", "1", "--r-no", "9"]):
            self.expect_error(RESOURCE_GUARD, "--force", "gen", *arguments, "-o", "x", "--quiet")


if __name__ == "__main__":
    main()

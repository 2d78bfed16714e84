#!/usr/bin/env python3
"""subquad chain: verdicts, the audit, negative controls, kernels from outside, the resource guard, JSON."""

import os
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True

from subquad_command import (BAD_USAGE, DONE, REFUTED, RESOURCE_GUARD, ROOT, SATISFIABLE, SATISFIABLE_CNF,  # noqa: E402
                             UNSATISFIABLE, UNSATISFIABLE_CNF, CommandTest, main, program_kernel)

EXAMPLES = ROOT / "docs" / "examples"
ROUTES = ("direct", "gap-ann")
KERNELS = ("exact", "exact-f32", "rigorous")


class Verdicts(CommandTest):
    def test_satisfiable_with_a_model(self):
        for route in ROUTES:
            for kernel in KERNELS:
                with self.subTest(route=route, kernel=kernel):
                    result = self.expect(SATISFIABLE, "chain", "-", "--via", route, "--kernel", kernel, stdin=SATISFIABLE_CNF)
                    self.assert_model(SATISFIABLE_CNF, result.out)
                    self.assertNotIn("VIOLATED", result.err)
                    self.assertNotIn("not fully audited", result.err)

    def test_unsatisfiable(self):
        for route in ROUTES:
            for kernel in KERNELS:
                with self.subTest(route=route, kernel=kernel):
                    result = self.expect(UNSATISFIABLE, "chain", "-", "--via", route, "--kernel", kernel, stdin=UNSATISFIABLE_CNF)
                    self.assertEqual(result.out, "s UNSATISFIABLE\n")

    def test_paper_parameters_with_the_rigorous_kernel(self):
        arguments = ("chain", "-", "--via", "gap-ann", "--parameters", "paper", "--kernel", "rigorous")
        self.assert_model(SATISFIABLE_CNF, self.expect(SATISFIABLE, *arguments, stdin=SATISFIABLE_CNF).out)
        self.expect(UNSATISFIABLE, *arguments, stdin=UNSATISFIABLE_CNF)

    def test_paper_parameters_are_refused_where_they_mean_nothing(self):
        paper = ("chain", "-", "--parameters", "paper")
        self.expect_error(BAD_USAGE, "underflows", *paper, "--via", "gap-ann", stdin=SATISFIABLE_CNF)
        self.expect_error(BAD_USAGE, "gap-ann only", *paper, "--kernel", "rigorous", stdin=SATISFIABLE_CNF)
        self.expect_error(BAD_USAGE, "fix eps_a", *paper, "--via", "gap-ann", "--tolerance", "0.2", stdin=SATISFIABLE_CNF)

    def test_cross_check_and_petersen_colouring_shown(self):
        formula = EXAMPLES / "petersen-3-colouring.cnf"
        result = self.expect(SATISFIABLE, "chain", formula, "--cross-check", "--decode")
        self.assert_model(formula.read_text(), result.out)
        self.assertIn("agrees", result.err)
        colors = dict(line.split("vertex ")[1].split(" = ") for line in result.out.splitlines() if line.startswith("c vertex"))
        self.assertEqual(len(colors), 10)
        edges = [(i, (i + 1) % 5) for i in range(5)] + [(5 + i, 5 + (i + 2) % 5) for i in range(5)] + [(i, i + 5) for i in range(5)]
        for u, v in edges:
            self.assertNotEqual(colors[str(u)], colors[str(v)])

    def test_factors_shown(self):
        out = self.expect(SATISFIABLE, "chain", EXAMPLES / "factoring-3x3-bit.cnf", "--decode", "--quiet").out
        numbers = dict(line[2:].split(" = ") for line in out.splitlines() if line.startswith("c "))
        self.assertEqual(int(numbers["a"]) * int(numbers["b"]), 35)

    def test_uneven_splits(self):
        for left in range(4):
            self.expect(SATISFIABLE, "chain", "-", "--left-variables", left, stdin=SATISFIABLE_CNF)
        self.expect_error(BAD_USAGE, "3 variables", "chain", "-", "--left-variables", "4", stdin=SATISFIABLE_CNF)

    def test_tolerances(self):
        for tolerance in ("0.01", ".25", "4e-1", "0.4999"):
            self.expect(SATISFIABLE, "chain", "-", "--tolerance", tolerance, stdin=SATISFIABLE_CNF)
        for tolerance in ("0", "0.5", "-0.1", "nan", "a", ""):
            self.expect_error(BAD_USAGE, "tolerance", "chain", "-", "--tolerance", tolerance, stdin=SATISFIABLE_CNF)

    def test_model_lines_are_short(self):
        out = self.expect(SATISFIABLE, "chain", "-", "--left-variables", "3", stdin="p cnf 3 0\n").out
        self.assert_model("p cnf 3 0\n", out)
        wide = self.expect(SATISFIABLE, "chain", EXAMPLES / "petersen-3-colouring.cnf", "--quiet").out
        self.assertTrue(all(len(line) <= 78 for line in wide.splitlines()))
        self.assertGreater(wide.count("\nv "), 1)

    def test_liberties_are_reported_and_quiet_is_quiet(self):
        text = "c\n\n p cnf  2 9\n1 2 0 %\n0\n"
        self.assertIn("'%'", self.expect(SATISFIABLE, "chain", "-", stdin=text).err)
        self.assertEqual(self.expect(SATISFIABLE, "chain", "-", "--quiet", stdin=text).err, "")

    def test_same_answer_for_every_number_of_threads(self):
        formula = EXAMPLES / "satlib-dialect.cnf"
        outs = {self.expect(SATISFIABLE, "chain", formula, "--threads", t, "--quiet").out for t in (1, 2, 3)}
        self.assertEqual(len(outs), 1)


class PublicFormulas(CommandTest):
    """SATLIB's uf20-01 .. 05, where they lie on this machine (SUBQUAD_PUBLIC_CNF, as for tests/sat)."""

    FOLDER = Path(os.environ.get("SUBQUAD_PUBLIC_CNF", ROOT.parent / "shared" / "data" / "cnf"))

    def test_satisfiable_with_a_verified_model_in_under_two_seconds(self):
        if not (self.FOLDER / "uf20-01.cnf").exists():
            self.skipTest(f"no public formulas in {self.FOLDER}")
        for number in range(1, 6):
            formula = self.FOLDER / f"uf20-0{number}.cnf"
            for route in ROUTES:
                start = time.monotonic()
                out = self.expect(SATISFIABLE, "chain", formula, "--via", route, "--quiet").out
                self.assertLess(time.monotonic() - start, 2)
                self.assert_model(formula.read_text().split("%")[0], out)


class NegativeControls(CommandTest):
    def test_sabotage_is_refuted_on_every_route_and_kernel(self):
        # In the unsatisfiable formula no row has a partner, so that 0.6 more, or no threshold key (key 2, the last),
        # flips a flag for certain. In the satisfiable one, (split 2 | 1) key 1 is the only partner of row 1.
        for formula, fault in [(UNSATISFIABLE_CNF, "add:1:0.6"), (UNSATISFIABLE_CNF, "drop-key:2"), (SATISFIABLE_CNF, "drop-key:1"),
                               (SATISFIABLE_CNF, "add:1:-0.9"), (SATISFIABLE_CNF, "add:1:0.6")]:
            for route in ROUTES:
                for kernel in KERNELS + (program_kernel(),):
                    with self.subTest(fault=fault, route=route, kernel=kernel):
                        arguments = ("chain", "-", "--via", route, "--kernel", kernel, "--sabotage", fault)
                        result = self.expect(REFUTED, *arguments, "--quiet", stdin=formula)
                        self.assertRegex(result.err, r"(?m)^subquad: kernel refuted: row \d+: û = .*, u in \[.*\] \(proved\); ")
                        self.assertTrue(result.out and all(line.startswith("c ") for line in result.out.splitlines()), result.out)
                        report = self.expect_json(REFUTED, *arguments, stdin=formula)
                        self.assertEqual((report["verdict"], report["model"], report["exit_status"]), ("refuted", None, REFUTED))
                        fault_found = report["audit"]["faults"][0]
                        low, high = fault_found["truth"]
                        self.assertLessEqual(low, high)
                        self.assertFalse(low - 0.1 <= fault_found["candidate"] <= high + 0.1, fault_found)

    def test_paper_parameters(self):
        arguments = ("chain", "-", "--via", "gap-ann", "--kernel", "rigorous", "--parameters", "paper", "--quiet")
        # 0.6 lifts a far row, whose ln u is far below -1000; 1.5 leaves the range of every average; -1 leaves no logarithm.
        for formula, fault in [(UNSATISFIABLE_CNF, "add:1:0.6"), (SATISFIABLE_CNF, "add:1:1.5"), (SATISFIABLE_CNF, "add:1:-1"),
                               (SATISFIABLE_CNF, "drop-key:1")]:
            with self.subTest(fault=fault):
                self.assertIn("ln û", self.expect(REFUTED, *arguments, "--sabotage", fault, stdin=formula).err)

    def test_a_kernel_within_its_tolerance_is_never_refuted(self):
        for fault in ("add:0:0.0999", "add:0:-0.0999", "add:1:0.0999", "add:1:-0.0999"):
            for formula, status in ((SATISFIABLE_CNF, SATISFIABLE), (UNSATISFIABLE_CNF, UNSATISFIABLE)):
                for route in ROUTES:
                    self.expect(status, "chain", "-", "--via", route, "--kernel", "exact", "--sabotage", fault, stdin=formula)

    def test_values_are_audited_also_where_the_flag_is_right(self):
        # 0.2 less leaves the far row far, but the value is wrong.
        report = self.expect_json(REFUTED, "chain", "-", "--sabotage", "add:1:-0.2", stdin=UNSATISFIABLE_CNF)
        self.assertIn("further than 0.1", report["audit"]["faults"][0]["what"])

    def test_without_an_audit_the_lift_still_catches_a_false_yes(self):
        arguments = ("chain", "-", "--audit", "none", "--sabotage")
        self.expect(REFUTED, *arguments, "add:1:0.6", stdin=UNSATISFIABLE_CNF)
        # Without an audit a false no passes, and the report says that nobody looked.
        report = self.expect_json(UNSATISFIABLE, "chain", "-", "--audit", "none", "--sabotage", "drop-key:1", stdin=SATISFIABLE_CNF)
        self.assertFalse(report["audit"]["fully_audited"])
        self.expect(REFUTED, "chain", "-", "--audit", "none", "--sabotage", "drop-key:1", "--cross-check", stdin=SATISFIABLE_CNF)

    def test_sampled_values(self):
        report = self.expect_json(UNSATISFIABLE, "chain", "-", "--audit", "sample:1", stdin=UNSATISFIABLE_CNF)
        self.assertEqual((report["audit"]["values_checked"], report["audit"]["flags_checked"]), (1, 2))
        self.assertTrue(report["audit"]["fully_audited"])

    def test_bad_faults(self):
        for fault in ("drop-key", "drop-key:x", "add:1", "add:x:1", "add:1:nan", "swap:1", "drop-key:99", "add:99:1"):
            with self.subTest(fault=fault):
                self.expect_error(BAD_USAGE, "planted fault", "chain", "-", "--sabotage", fault, stdin=SATISFIABLE_CNF)


class ProgramKernels(CommandTest):
    def setUp(self):
        super().setUp()
        self.private = self.folder / "private"
        self.private.mkdir()
        self.env = {"TMPDIR": str(self.private)}

    def tearDown(self):
        self.assertEqual(list(self.private.iterdir()), [], "the private folder was left behind")

    def test_a_good_program(self):
        for route in ROUTES:
            result = self.expect(SATISFIABLE, "chain", "-", "--kernel", program_kernel(), "--via", route, stdin=SATISFIABLE_CNF, env=self.env)
            self.assert_model(SATISFIABLE_CNF, result.out)
            self.assertNotIn("must not reach", result.out)

    def test_wrong_programs_are_refuted(self):
        for fault in ("add:1:0.6", "nan:0"):
            self.expect(REFUTED, "chain", "-", "--kernel", program_kernel(fault), stdin=UNSATISFIABLE_CNF, env=self.env)

    def test_broken_programs_are_errors(self):
        for fault, part in (("status", "ended with status 3"), ("silent", "wrote no output"), ("shape", "is 1 x 1, expected 2 x 1"),
                            ("garbage", "cannot be read")):
            result = self.expect(BAD_USAGE, "chain", "-", "--kernel", program_kernel(fault), "--quiet", stdin=UNSATISFIABLE_CNF, env=self.env)
            self.assertIn(part, result.err)
            self.assertEqual(result.out, "")

    def test_no_such_program(self):
        kernel = "cmd:no-such-program-here {q} {k} {v} {out}"
        result = self.expect(BAD_USAGE, "chain", "-", "--kernel", kernel, "--quiet", stdin=SATISFIABLE_CNF, env=self.env)
        self.assertIn("ended with status 127", result.err)

    def test_incomplete_template(self):
        self.expect_error(BAD_USAGE, "{out} does not occur", "chain", "-", "--kernel", "cmd:true {q} {k} {v}", stdin=SATISFIABLE_CNF)


class ResourceGuard(CommandTest):
    FIFTY = "p cnf 50 2\n1 -50 0\n25 26 0\n"

    def test_fifty_variables_are_refused_with_the_numbers(self):
        for route in ROUTES:
            result = self.expect_error(RESOURCE_GUARD, "2^25", "chain", "-", "--via", route, "--quiet", stdin=self.FIFTY)
            for part in ("GiB", "multiply-adds", "--force"):
                self.assertIn(part, result.err)

    def test_dry_run_shows_the_sizes(self):
        result = self.expect(DONE, "chain", "-", "--dry-run", stdin=self.FIFTY)
        self.assertIn("3.36e7 (2^25)", result.out)
        report = self.expect_json(DONE, "chain", "-", "--dry-run", stdin=self.FIFTY)
        self.assertEqual((report["schema"], report["dry_run"]), ("subquad.chain/1", True))
        sizes = {s["field"]: s["value"] for s in report["stages"][1]["sizes"]}
        self.assertEqual(sizes, {"num_a": 2**25, "num_b": 2**25, "dim": 2})
        self.assertGreater(report["need"]["kernel_multiply_adds"], report["limits"]["kernel_multiply_adds"])

    def test_dry_run_of_a_small_formula(self):
        report = self.expect_json(DONE, "chain", "-", "--dry-run", stdin=SATISFIABLE_CNF)
        self.assertEqual(report["need"]["kernel_multiply_adds"], 4 * 3 * (5 + 1))

    def test_absurd_sizes(self):
        for variables in (100_000, 2**20, 2**30 - 1):
            self.expect_error(RESOURCE_GUARD, "2^", "chain", "-", "--quiet", stdin=f"p cnf {variables} 1\n1 0\n")


class Json(CommandTest):
    KEYS = ["schema", "version", "dry_run", "options", "verdict", "exit_status", "model", "model_verified", "decoded", "stages",
            "attention", "kernel", "audit", "cross_check", "ledger", "seconds", "peak_memory_bytes"]

    def test_schema(self):
        report = self.expect_json(SATISFIABLE, "chain", "-", "--cross-check", stdin=SATISFIABLE_CNF)
        self.assertEqual(list(report), self.KEYS)
        self.assertEqual(report["schema"], "subquad.chain/1")
        self.assertEqual([s["problem"] for s in report["stages"]], ["cnf", "ov", "attention"])
        for stage in report["stages"][1:]:
            for size in stage["sizes"]:
                self.assertTrue(size["bound"]["holds"])
        self.assertEqual(report["audit"]["flags_checked"], 4)
        self.assertEqual(report["audit"]["values_checked"], 4)
        self.assertTrue(report["audit"]["fully_audited"])
        self.assertTrue(report["cross_check"]["agrees"])

    def test_no_variables(self):
        self.assertEqual(self.expect_json(SATISFIABLE, "chain", "-", stdin="p cnf 0 0\n")["model"], [])
        self.assertIsNone(self.expect_json(UNSATISFIABLE, "chain", "-", stdin="p cnf 0 1\n0\n")["model"])


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""reduce, lift, solve, verify: files go down and answers come back, through other programs if need be."""

import json
import math
import sys

sys.dont_write_bytecode = True

from npy_attention import attention, write_npy  # noqa: E402
from subquad_command import (BAD_USAGE, DONE, REFUTED, RESOURCE_GUARD, SATISFIABLE, SATISFIABLE_CNF, UNDECIDED,  # noqa: E402
                             UNSATISFIABLE, UNSATISFIABLE_CNF, CommandTest, main)

PROBLEMS = ("ov", "p-ov", "gap-ann", "attention")


class ReduceAndLift(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("yes.cnf", SATISFIABLE_CNF)
        self.write("no.cnf", UNSATISFIABLE_CNF)

    def test_round_trip_through_files_for_every_problem(self):
        for problem in PROBLEMS:
            for name, status in (("yes", SATISFIABLE), ("no", UNSATISFIABLE)):
                with self.subTest(problem=problem, name=name):
                    self.expect(DONE, "reduce", "cnf", problem, f"{name}.cnf", "-o", "target")
                    self.expect(DONE, "solve", problem, "target", "-o", "answer")
                    self.expect(DONE, "verify", problem, "target", "answer")
                    lifted = self.expect(status, "lift", "cnf", problem, f"{name}.cnf", "answer")
                    if name == "yes":
                        self.assert_model(SATISFIABLE_CNF, lifted.out)
                        self.write("model", lifted.out)
                        self.expect(DONE, "verify", "cnf", "yes.cnf", "model")
                    else:
                        self.assertIn("s UNSATISFIABLE\n", lifted.out)

    def test_longer_path_and_parameters(self):
        path = ("--through", "cnf_to_ov,ov_to_gap_ann,gap_ann_to_attention", "--param", "tolerance=0.25", "--param",
                "cnf_to_ov.left_variables=1")
        report = self.expect_json(DONE, "reduce", "cnf", "attention", "yes.cnf", "-o", "a", *path)
        self.assertEqual([s["reduction"] for s in report["steps"]], ["cnf_to_ov", "ov_to_gap_ann", "gap_ann_to_attention"])
        self.assertEqual((report["target"]["num_queries"], report["target"]["num_keys"]), (2, 5))
        self.expect(DONE, "solve", "attention", "a", "-o", "b")
        self.assert_model(SATISFIABLE_CNF, self.expect(SATISFIABLE, "lift", "cnf", "attention", "yes.cnf", "b", *path).out)
        # Other parameters build another instance, so that the answer is for another one.
        self.expect_error(BAD_USAGE, "for another instance", "lift", "cnf", "attention", "yes.cnf", "b", "--quiet")

    def test_from_the_middle(self):
        self.expect(DONE, "reduce", "cnf", "ov", "yes.cnf", "-o", "f.ov")
        self.expect(DONE, "reduce", "ov", "gap-ann", "f.ov", "-o", "f.gap")
        self.expect(DONE, "solve", "gap-ann", "f.gap", "-o", "g")
        ov_answer = self.expect(DONE, "lift", "ov", "gap-ann", "f.ov", "g").out
        self.assertIn("s YES\n", ov_answer)
        # Standard input for the answer, a file for the lifted one.
        self.expect(SATISFIABLE, "lift", "cnf", "ov", "yes.cnf", "-", "-o", "model", stdin=ov_answer)
        self.assert_model(SATISFIABLE_CNF, (self.folder / "model").read_text())

    def test_an_answer_for_another_instance_is_refused(self):
        self.expect(DONE, "reduce", "cnf", "ov", "no.cnf", "-o", "no.ov")
        self.expect(DONE, "solve", "ov", "no.ov", "-o", "answer")
        self.expect_error(BAD_USAGE, "it is for another instance", "lift", "cnf", "ov", "yes.cnf", "answer", "--quiet")
        self.expect(DONE, "reduce", "cnf", "ov", "yes.cnf", "-o", "yes.ov")
        self.expect_error(BAD_USAGE, "it is for another instance", "verify", "ov", "yes.ov", "answer")

    def test_a_wrong_answer_is_refuted_by_the_lift(self):
        # Without a digest line any pair may claim to be an answer.
        self.expect_error(REFUTED, "inner product 1", "lift", "cnf", "ov", "no.cnf", "-", "--quiet", stdin="s YES\nw 0 0\n")
        # "none" for a satisfiable formula: CNF's own check finds a model.
        result = self.expect(REFUTED, "lift", "cnf", "ov", "yes.cnf", "-", stdin="s NO\n")
        self.assertEqual(result.out, "")
        self.assertIn("names no instance", result.err)

    def test_large_unsatisfiable_formula_is_vouched_for_by_the_target(self):
        clauses = "".join(f"{a} {b} 0\n" for a in (1, -1) for b in (22, -22))
        self.write("big.cnf", "p cnf 22 4\n" + clauses)
        self.expect(DONE, "reduce", "cnf", "ov", "big.cnf", "-o", "big.ov")
        self.expect(DONE, "solve", "ov", "big.ov", "-o", "answer")
        result = self.expect(UNSATISFIABLE, "lift", "cnf", "ov", "big.cnf", "answer")
        self.assertIn("verifiers/ov_witness and the reductions' theorems", result.err)

    def test_streams(self):
        text = self.expect(DONE, "reduce", "cnf", "ov", "-", "-o", "-", "--quiet", stdin=SATISFIABLE_CNF).out
        self.assertIn("c source: standard input", text)
        self.assertIn("s YES", self.expect(DONE, "solve", "ov", "-", stdin=text).out)
        self.expect_error(BAD_USAGE, "cannot both be standard input", "lift", "cnf", "ov", "-", "-", stdin=text)

    def test_dry_run_writes_nothing(self):
        report = self.expect_json(DONE, "reduce", "cnf", "ov", "-", "--dry-run", stdin="p cnf 64 1\n1 0\n")
        self.assertEqual(report["steps"][0]["sizes_bound"]["num_a"], 2**32)
        self.expect_error(RESOURCE_GUARD, "--force", "reduce", "cnf", "ov", "-", "-o", "x", "--quiet", stdin="p cnf 64 1\n1 0\n")

    def test_turing_reductions_make_no_file(self):
        self.expect_error(BAD_USAGE, "Turing", "reduce", "ann", "gap-ann", "yes.cnf", "-o", "x")

    def test_paths_that_do_not_join(self):
        self.expect_error(BAD_USAGE, "starts at ov", "reduce", "cnf", "gap-ann", "yes.cnf", "-o", "x", "--through", "ov_to_gap_ann")
        self.expect_error(BAD_USAGE, "ends at ov", "reduce", "cnf", "gap-ann", "yes.cnf", "-o", "x", "--through", "cnf_to_ov")
        self.expect_error(BAD_USAGE, "no path", "reduce", "ov", "cnf", "yes.cnf", "-o", "x")
        self.expect_error(BAD_USAGE, "same problem", "reduce", "ov", "ov", "yes.cnf", "-o", "x")
        self.expect_error(BAD_USAGE, "given twice", "reduce", "cnf", "ov", "yes.cnf", "-o", "x", "--param", "left_variables=1", "--param",
                          "left_variables=2")


class Solve(CommandTest):
    def test_cnf_by_cadical_and_by_brute_force(self):
        for flags in ((), ("--brute-force",)):
            self.assert_model(SATISFIABLE_CNF, self.expect(SATISFIABLE, "solve", "cnf", "-", *flags, stdin=SATISFIABLE_CNF).out)
            self.assertIn("s UNSATISFIABLE", self.expect(UNSATISFIABLE, "solve", "cnf", "-", *flags, stdin=UNSATISFIABLE_CNF).out)

    def test_guard(self):
        self.expect_error(RESOURCE_GUARD, "clause visits", "solve", "cnf", "-", "--brute-force", "--quiet", stdin="p cnf 60 1\n1 0\n")
        self.expect(SATISFIABLE, "solve", "cnf", "-", "--quiet", stdin="p cnf 60 1\n1 0\n")
        self.expect_error(BAD_USAGE, "--brute-force", "solve", "ov", "-", "--brute-force", stdin="p ov 0 0 0\n")

    def test_json(self):
        report = self.expect_json(SATISFIABLE, "solve", "cnf", "-", stdin=SATISFIABLE_CNF)
        self.assertEqual((report["schema"], report["solver"], report["exit_status"]), ("subquad.solve/1", "cadical", 10))
        self.assert_model(SATISFIABLE_CNF, report["answer"])


class Verify(CommandTest):
    def test_models(self):
        self.write("f.cnf", SATISFIABLE_CNF)
        self.expect(DONE, "verify", "cnf", "f.cnf", "-", stdin="s SATISFIABLE\nv 1 -2 3 0\n")
        self.assertIn("clause 1", self.expect(REFUTED, "verify", "cnf", "f.cnf", "-", stdin="s SATISFIABLE\nv -1 -2 3 0\n").out)
        self.expect(REFUTED, "verify", "cnf", "f.cnf", "-", stdin="s UNSATISFIABLE\n")
        self.write("g.cnf", UNSATISFIABLE_CNF)
        self.expect(DONE, "verify", "cnf", "g.cnf", "-", stdin="s UNSATISFIABLE\n")
        self.write("h.cnf", "p cnf 40 1\n1 2 0\n")
        self.expect(UNDECIDED, "verify", "cnf", "h.cnf", "-", stdin="s UNSATISFIABLE\n")

    def test_vectors(self):
        self.write("f.ov", "p ov 2 2 2\n11\n10\n11\n01\n")
        self.expect(DONE, "verify", "ov", "f.ov", "-", stdin="s YES\nw 1 1\n")
        self.expect(REFUTED, "verify", "ov", "f.ov", "-", stdin="s YES\nw 0 1\n")
        self.expect(REFUTED, "verify", "ov", "f.ov", "-", stdin="s YES\nw 7 1\n")
        report = self.expect_json(REFUTED, "verify", "ov", "f.ov", "-", stdin="s NO\n")
        self.assertEqual(report["evidence"], {"row": 1, "partner": 1})

    def test_gap_rows(self):
        self.expect(DONE, "gen", "gap-ann", "tight", "-n", "6", "--num-keys", "5", "-d", "20", "--r-yes", "4", "--r-no", "8", "--num-near",
                    "2", "-o", "g.gap")
        self.expect(DONE, "verify", "gap-ann", "g.gap", "g.gap.answer")
        # Flip every row: all of them are inside the promise, so all are wrong.
        swap = {"near": "far", "far": "near"}
        text = (self.folder / "g.gap.answer").read_text()
        flipped = "\n".join(swap.get(line, line) for line in text.splitlines()) + "\n"
        report = self.expect_json(REFUTED, "verify", "gap-ann", "g.gap", "-", stdin=flipped)
        self.assertEqual([w["row"] for w in report["evidence"]["wrong"]], list(range(6)))

    def arrays(self, output, q=((0.5, -1.0), (2.0, 0.25), (0.0, 0.0)), scale=0.5):
        k, v = [(1.0, 0.5), (-0.5, 2.0)], [(1.0, 0.0, 3.0), (0.0, 1.0, -2.0)]
        truth = attention(q, k, v, scale)
        names = []
        for name, rows, columns in (("q", q, 2), ("k", k, 2), ("v", v, 3), ("o", output(truth), 3)):
            write_npy(self.folder / f"{name}.npy", rows, columns)
            names.append(f"{name}.npy")
        return names

    def test_attention_arrays(self):
        exact = self.arrays(lambda truth: truth)
        self.expect(DONE, "verify", "attention", *exact, "--tolerance", "1e-12")
        # The default scale is 1/d = 1/2 here; another one gives another answer.
        self.expect(DONE, "verify", "attention", *exact, "--tolerance", "1e-12", "--scale", "0.5")
        self.expect(REFUTED, "verify", "attention", *exact, "--tolerance", "1e-12", "--scale", "0.7071067811865476")

    def test_attention_arrays_refuted_with_the_row(self):
        def wrong(truth):
            truth[1][2] += 0.01
            return truth

        names = self.arrays(wrong)
        self.expect(DONE, "verify", "attention", *names, "--tolerance", "0.0100001")
        result = self.expect(REFUTED, "verify", "attention", *names, "--tolerance", "0.0099999")
        self.assertRegex(result.out, r"^refuted: row 1, column 2: output \S+, exact value in \[\S+, \S+\] \(proved\)")
        report = self.expect_json(REFUTED, "verify", "attention", *names, "--tolerance", "1e-3")
        finding = report["evidence"]["findings"][0]
        self.assertEqual((finding["row"], finding["column"]), (1, 2))
        self.assertAlmostEqual(finding["candidate"] - finding["truth"][0], 0.01, places=12)

    def test_nan_is_refuted(self):
        names = self.arrays(lambda truth: [[math.nan, *row[1:]] for row in truth])
        report = self.expect_json(REFUTED, "verify", "attention", *names, "--tolerance", "1e300")
        self.assertEqual(report["evidence"]["findings"][0]["candidate"], "nan")

    def test_attention_usage(self):
        names = self.arrays(lambda truth: truth)
        self.expect_error(BAD_USAGE, "--tolerance", "verify", "attention", *names)
        self.expect_error(BAD_USAGE, "3 files given", "verify", "attention", *names[:3], "--tolerance", "1")
        self.expect_error(BAD_USAGE, "for attention only", "verify", "ov", *names[:2], "--tolerance", "1")
        self.expect_error(BAD_USAGE, "--tolerance", "verify", "attention", *names, "--tolerance=-1")
        self.expect(BAD_USAGE, "verify", "attention", names[3], *names[1:], "--tolerance", "1")  # shapes that do not fit
        bad = self.arrays(lambda truth: truth, q=((math.inf, 0.0), (0.0, 0.0), (0.0, 0.0)), scale=0.0)
        self.expect_error(BAD_USAGE, "Q[0,0] is inf", "verify", "attention", *bad, "--tolerance", "1", "--scale", "1")

    def test_attention_instance_and_sabotaged_answer(self):
        self.expect(DONE, "reduce", "cnf", "attention", "-", "-o", "a", stdin=UNSATISFIABLE_CNF)
        self.expect(DONE, "solve", "attention", "a", "-o", "b")
        report = self.expect_json(DONE, "verify", "attention", "a", "b")
        self.assertAlmostEqual(report["evidence"]["tolerance"], 0.1)
        json.dumps(report, allow_nan=False)
        self.expect(REFUTED, "verify", "attention", "a", "b", "--tolerance", "1e-30")

    def test_wrong_way_round(self):
        self.expect(DONE, "reduce", "cnf", "attention", "-", "-o", "a", stdin=UNSATISFIABLE_CNF)
        self.expect(BAD_USAGE, "verify", "attention", "a", "a")


if __name__ == "__main__":
    main()

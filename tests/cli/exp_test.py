"""subquad exp, and verify exp-polynomial: degrees, certificates, files, refusals; an independent check in rational arithmetic."""

import importlib.util
import re
import unittest
from fractions import Fraction

from subquad_command import BAD_USAGE, DONE, REFUTED, RESOURCE_GUARD, ROOT, CommandTest

CHECKER = ROOT / "docs" / "examples" / "check_exp_polynomial.py"
spec = importlib.util.spec_from_file_location("check_exp_polynomial", CHECKER)
checker = importlib.util.module_from_spec(spec)
spec.loader.exec_module(checker)


class ExpTest(CommandTest):
    def test_the_tight_cell(self):
        out = self.expect_json(DONE, "exp", "--interval", "-1,1", "--relative", "1e-12")
        self.assertEqual(out["schema"], "subquad.exp/1")
        self.assertEqual((out["degree"], out["minimal"], out["verdict"]), (12, True, "certified"))
        self.assertLess(Fraction(out["error_bound"]), Fraction(1, 10**12))
        self.assertTrue(out["lower"]["bound"].startswith("1.00142"), out["lower"])

    def test_a_degree_alone_encloses_its_least_error(self):
        out = self.expect_json(DONE, "exp", "--interval", "0,1", "--measure", "absolute", "--degree", "8")
        self.assertEqual(out["lower"]["bound"][:15], "3.4902699458424")
        self.assertEqual(out["error_bound"][:15], "3.4902699458424")
        self.assertLessEqual(Fraction(out["lower"]["bound"]), Fraction(out["error_bound"]))

    def test_files_are_certified_and_tampered_files_are_not(self):
        for measure, interval in (("--relative", "-4,4"), ("--absolute", "0,8"), ("--absolute", "-3,1/2")):
            self.expect(DONE, "exp", "--interval", interval, measure, "1e-6", "-o", "p.exp")
            text = (self.folder / "p.exp").read_text()
            self.assertIn("certified", self.expect(DONE, "exp", "--check", "p.exp").out)
            self.assertIn("is the least", self.expect(DONE, "verify", "exp-polynomial", "p.exp").out)
            self.assertTrue(checker.check(text)["minimal"])
            lines = text.splitlines()
            first = next(i for i, line in enumerate(lines) if line.startswith("k "))
            tampered = {
                "smaller epsilon": text.replace("epsilon 1/1000000", "epsilon 1/1000000000"),
                "coefficient": re.sub(r"^a (\d+)/(\d+)$", lambda m: f"a {int(m[1]) * 1001}/{int(m[2]) * 1000}", text, count=1, flags=re.M),
                "interval moved": "\n".join(lines[:first] + ["k 1/8 1/4"] + lines[first + 1 :]) + "\n",
                "point doubled": re.sub(r"^(x .*)\nx .*$", r"\1\n\1", text, count=1, flags=re.M),
            }
            for name, content in tampered.items():
                self.assertNotEqual(content, text, name)
                self.write("bad.exp", content)
                with self.subTest(name=name, interval=interval):
                    self.assertIn("refuted", self.expect(REFUTED, "exp", "--check", "bad.exp").out)
                    self.assertEqual(self.expect_json(REFUTED, "verify", "exp-polynomial", "bad.exp")["verdict"], "refuted")
                    with self.assertRaises(checker.Rejected):
                        checker.check(content)

    def test_standard_input_and_output(self):
        out = self.expect(DONE, "exp", "--interval", "-1,1", "--relative", "1e-3", "--quiet").out
        self.assertIn("certified", self.expect(DONE, "exp", "--check", "-", stdin=out).out)
        self.expect(DONE, "exp", "--interval", "-1,1", "--relative", "1e-3", "--certify", "-o", "/dev/null")

    def test_a_degree_that_is_too_small_is_refuted_with_a_proof(self):
        result = self.expect(REFUTED, "exp", "--interval", "-1,1", "--relative", "1e-12", "--degree", "11", "-o", "p.exp")
        self.assertIn("proved E_11 >= 1.00142", result.err)
        self.assertFalse((self.folder / "p.exp").exists())
        result = self.expect(REFUTED, "exp", "--interval", "-1,1", "--relative", "1e-12", "--degree", "13", "--minimal")
        self.assertIn("degree 12 is proved to reach it too", result.err)

    def test_constructions(self):
        for name, degree in (("nodes", 3), ("chebyshev-nodes", 3), ("chebyshev-series", 3), ("taylor", 4)):
            arguments = ("exp", "--interval", "0,1", "--absolute", "1e-3", "--construction", name, "--degree")
            self.expect(DONE, *arguments, degree, "-o", "p.exp")
            self.assertIn("certified", self.expect(DONE, "exp", "--check", "p.exp").out)
            self.expect(REFUTED, *arguments, degree - 1, "-o", "none.exp")
            self.assertFalse((self.folder / "none.exp").exists())

    def test_bad_input_is_one_clear_line(self):
        cases = [
            (("--interval", "-1,1", "--relative", "0"), BAD_USAGE, "more than 0"),
            (("--interval", "-1,1", "--relative", "-1e-3"), BAD_USAGE, "more than 0"),
            (("--interval", "-1,1", "--relative", "1"), BAD_USAGE, "less than 1"),
            (("--interval", "-1,1", "--relative", "nan"), BAD_USAGE, "exact number"),
            (("--interval", "1,-1", "--relative", "0.1"), BAD_USAGE, "empty"),
            (("--interval", "nan,1", "--relative", "0.1"), BAD_USAGE, "exact number"),
            (("--interval", "1", "--relative", "0.1"), BAD_USAGE, "A,B"),
            (("--interval", "1,2,3", "--relative", "0.1"), BAD_USAGE, "A,B"),
            (("--interval", "-1,1"), BAD_USAGE, "--relative EPS"),
            (("--relative", "0.1"), BAD_USAGE, "--interval"),
            (("--interval", "-1,1", "--degree", "-1"), BAD_USAGE, "at least 0"),
            (("--interval", "-1,1", "--degree", "x"), BAD_USAGE, "--degree"),
            (("--interval", "-1,1", "--degree", "3", "--minimal"), BAD_USAGE, "--minimal"),
            (("--interval", "5,5", "--degree", "2"), BAD_USAGE, "point"),
            (("--interval", "-1,1", "--relative", "0.1", "--absolute", "0.1"), BAD_USAGE, "--"),
            (("--interval", "-1,1", "--relative", "0.1", "--construction", "taylor"), BAD_USAGE, "--degree"),
            (("--interval", "-1,1", "--check", "p.exp"), BAD_USAGE, "--check"),
            (("--check", "missing.exp"), BAD_USAGE, "missing.exp"),
            (("--interval", "-1e6,1e6", "--relative", "0.1"), RESOURCE_GUARD, "degree"),
            (("--interval", "-1e9,1e9", "--relative", "0.1"), RESOURCE_GUARD, "beyond"),
            (("--interval", "-2000,2000", "--relative", "0.1"), RESOURCE_GUARD, "at most 1000"),
            (("--interval", "-1,1", "--degree", "5000"), RESOURCE_GUARD, "at most 1000"),
            (("--interval", "-1,1", "--relative", "1e-99999"), RESOURCE_GUARD, ""),
        ]
        for arguments, status, words in cases:
            with self.subTest(arguments=arguments):
                result = self.expect(status, "exp", *arguments)
                self.assertEqual(result.out, "")
                self.assertEqual(result.err.count("\n"), 1, result.err)
                self.assertIn(words, result.err)

    def test_degenerate_intervals_have_right_answers(self):
        self.assertEqual(self.expect_json(DONE, "exp", "--interval", "0,0", "--relative", "1e-9")["coefficients"], ["1"])
        one = self.expect_json(DONE, "exp", "--interval", "1,1", "--absolute", "1e-30")
        self.assertEqual(one["degree"], 0)
        self.assertTrue(one["minimal"])
        self.assertEqual(self.expect_json(DONE, "exp", "--interval", "-1,1", "--degree", "0")["error_bound"][:12], "7.6159415595")

    def test_dry_run_predicts(self):
        out = self.expect_json(DONE, "exp", "--interval", "-25,25", "--relative", "1e-16", "--dry-run")
        self.assertEqual((out["predicted_degree"], out["dry_run"]), (58, True))


if __name__ == "__main__":
    unittest.main()

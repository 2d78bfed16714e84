"""A second opinion: what our verifier certifies, Sollya's certified supnorm does not refute, and the other way round.

Skipped with a message where Sollya is not installed."""

import re
import shutil
import subprocess
import unittest
from fractions import Fraction

from subquad_command import DONE, REFUTED, CommandTest

CASES = [
    ("relative", "-1,1", "1e-8"),
    ("relative", "-4,4", "1e-4"),
    ("relative", "-4,4", "1e-8"),
    ("relative", "-9,9", "1e-8"),
    ("relative", "-16,16", "1e-3"),
    ("absolute", "0,4", "1e-6"),
    ("absolute", "0,16", "1e-6"),
    ("absolute", "0,32", "1e-4"),
]


@unittest.skipUnless(shutil.which("sollya"), "Sollya is not installed: no second opinion on exp polynomials")
class SollyaTest(CommandTest):
    def supnorm(self, out, measure, interval):
        """Sollya's certified enclosure of the largest error."""
        a, b = interval.split(",")
        polynomial = " + ".join(f"({c})*x^{k}" for k, c in enumerate(out["coefficients"]))
        script = f"prec = 400!; display = powers!; supnorm({polynomial}, exp(x), [{a};{b}], {measure}, 2^(-20));\nquit;\n"
        done = subprocess.run(["sollya", "--warnonstderr"], input=script, capture_output=True, text=True, timeout=120, check=True)
        ends = re.search(r"\[(.*);(.*)\]", done.stdout)
        self.assertTrue(ends, done.stdout + done.stderr)

        def number(text):
            match = re.fullmatch(r"\s*(-?\d+)(?: \* 2\^\((-?\d+)\))?\s*", text)
            self.assertTrue(match, text)
            return int(match[1]) * Fraction(2) ** int(match[2] or 0)

        return number(ends[1]), number(ends[2])

    def test_both_agree(self):
        for measure, interval, epsilon in CASES:
            with self.subTest(measure=measure, interval=interval, epsilon=epsilon):
                out = self.expect_json(DONE, "exp", "--interval", interval, f"--{measure}", epsilon, "-o", "p.exp")
                low, high = self.supnorm(out, measure, interval)
                self.assertLess(low, Fraction(epsilon))
                self.assertLessEqual(low, Fraction(out["error_bound"]))
                # Ours is sharp as well: at most 2 per cent above what Sollya says at most.
                self.assertLessEqual(Fraction(out["error_bound"]), high * Fraction(102, 100))
                # A claim that Sollya refutes must be refuted here too.
                text = (self.folder / "p.exp").read_text()
                false = low * Fraction(999, 1000)
                self.write("false.exp", re.sub(r"^epsilon .*$", f"epsilon {false}", text, flags=re.M))
                self.assertIn("false: the error at", self.expect(REFUTED, "exp", "--check", "false.exp").out)


if __name__ == "__main__":
    unittest.main()

"""--causal and --causal-offset of attend and verify: exact kernels, the verifier, refusals."""

import math
import random
import unittest

from npy_files import read_npy, write_npy
from subquad_command import BAD_USAGE, DONE, REFUTED, CommandTest


def causal_attention(q, k, v, scale, offset):
    out = []
    for i, row in enumerate(q):
        seen = k[: i + offset + 1]
        weights = [math.exp(scale * math.fsum(x * y for x, y in zip(row, key))) for key in seen]
        total = math.fsum(weights)
        out.append([math.fsum(w * value[c] for w, value in zip(weights, v)) / total for c in range(len(v[0]))])
    return out


class CausalTest(CommandTest):
    def setUp(self):
        super().setUp()
        rng = random.Random(7)
        matrix = lambda rows, cols: [[rng.uniform(-2, 2) for _ in range(cols)] for _ in range(rows)]
        self.q, self.k, self.v = matrix(40, 3), matrix(50, 3), matrix(50, 2)
        for name, rows in (("q", self.q), ("k", self.k), ("v", self.v)):
            write_npy(self.folder / f"{name}.npy", rows)
        self.files = ["q.npy", "k.npy", "v.npy"]

    def test_exact_kernels_match_the_definition_and_are_certified(self):
        for kernel, tolerance in (("exact", 1e-12), ("exact-f32", 1e-4)):
            for offset in (0, 10, 60):
                arguments = ["--causal"] + (["--causal-offset", offset] if offset else [])
                out = self.expect_json(
                    DONE, "attend", *self.files, "-o", "out.npy", "--kernel", kernel, "--scale", 0.5, "--tolerance", tolerance, "--verify", *arguments
                )
                self.assertEqual(out["causal_offset"], offset)
                self.assertEqual(out["verification"]["verdict"], "certified")
                expected = causal_attention(self.q, self.k, self.v, 0.5, offset)
                found = read_npy(self.folder / "out.npy")
                for a, b in zip(found, expected):
                    for x, y in zip(a, b):
                        self.assertLessEqual(abs(x - y), tolerance)
                verify = ["verify", "attention", *self.files, "out.npy", "--scale", 0.5, "--tolerance", tolerance]
                self.assertEqual(self.expect_json(DONE, *verify, *arguments)["evidence"]["causal_offset"], offset)

    def test_another_mask_is_refuted(self):
        self.expect(DONE, "attend", *self.files, "-o", "out.npy", "--scale", 0.5, "--causal", "--causal-offset", 3)
        verify = ["verify", "attention", *self.files, "out.npy", "--scale", 0.5, "--tolerance", 1e-6]
        self.expect(DONE, *verify, "--causal", "--causal-offset", 3)
        self.expect(REFUTED, *verify)
        self.expect(REFUTED, *verify, "--causal")
        self.expect(REFUTED, *verify, "--causal", "--causal-offset", 4)

    def test_refusals(self):
        for kernel in ("rigorous", "low-rank", "cmd:cp {q} {k} {v} {out}"):
            result = self.expect(BAD_USAGE, "attend", *self.files, "--kernel", kernel, "--tolerance", 0.1, "--causal")
            self.assertIn("has no masks; exact, exact-f32 and knn with --k have", result.err)
        self.assertIn("expected --causal", self.expect(BAD_USAGE, "attend", *self.files, "--causal-offset", 3).err)
        self.expect(BAD_USAGE, "attend", *self.files, "--causal", "--causal-offset", "-1")
        self.assertIn("attention only", self.expect(BAD_USAGE, "verify", "cnf", "a.cnf", "b", "--causal").err)


if __name__ == "__main__":
    unittest.main()

"""subquad attend: kernels on matrices, the low-rank plan and certificate, refusals."""

import math
import random
import unittest

from npy_files import read_npy, write_npy
from subquad_command import BAD_USAGE, DONE, REFUTED, RESOURCE_GUARD, CommandTest


def softmax_attention(q, k, v, scale):
    out = []
    for row in q:
        weights = [math.exp(scale * math.fsum(x * y for x, y in zip(row, key))) for key in k]
        total = math.fsum(weights)
        out.append([math.fsum(w * value[c] for w, value in zip(weights, v)) / total for c in range(len(v[0]))])
    return out


class AttendTest(CommandTest):
    def make(self, n=60, n_k=90, d=4, d_v=3, bound=1.0, seed=1):
        rng = random.Random(seed)
        matrix = lambda rows, cols: [[rng.uniform(-bound, bound) for _ in range(cols)] for _ in range(rows)]
        self.q, self.k, self.v = matrix(n, d), matrix(n_k, d), matrix(n_k, d_v)
        for name, rows in (("q", self.q), ("k", self.k), ("v", self.v)):
            write_npy(self.folder / f"{name}.npy", rows)
        return ["q.npy", "k.npy", "v.npy"]

    def worst(self, scale, name="out.npy"):
        expected = softmax_attention(self.q, self.k, self.v, scale)
        found = read_npy(self.folder / name)
        self.assertEqual((len(found), len(found[0])), (len(expected), len(expected[0])))
        return max(abs(x - y) for a, b in zip(found, expected) for x, y in zip(a, b))

    def test_low_rank_is_within_its_certificate(self):
        files = self.make()
        for kernel, tolerance in (("low-rank", 1e-3), ("low-rank", 1e-8), ("low-rank-f32", 1e-2), ("low-rank-f32", 1e-3)):
            out = self.expect_json(DONE, "attend", *files, "-o", "out.npy", "--kernel", kernel, "--tolerance", tolerance, "--verify")
            plan = out["plan"]
            self.assertLessEqual(out["error_bound"], plan["error_bound"])
            self.assertLessEqual(plan["error_bound"], tolerance)
            self.assertEqual(plan["rank"], math.comb(plan["degree"] + 4, 4))
            self.assertEqual(out["verification"]["verdict"], "certified")
            error = self.worst(0.25)
            self.assertLessEqual(error, out["error_bound"] + 1e-15)

    def test_exact_kernels_and_scale(self):
        files = self.make(bound=3)
        for kernel, tolerance in (("exact", 1e-12), ("exact-f32", 1e-4)):
            self.expect(DONE, "attend", *files, "-o", "out.npy", "--kernel", kernel, "--scale", "0.5", "--tolerance", tolerance, "--verify")
            self.assertLessEqual(self.worst(0.5), tolerance)

    def test_verify_refutes_a_lying_program(self):
        files = self.make()
        liar = "python3 -c \"import shutil,sys;shutil.copy(sys.argv[1],sys.argv[2])\" {v} {out}; : {q} {k}"
        self.make(n=90, d_v=3)
        result = self.expect(REFUTED, "attend", *files, "--kernel", f"cmd:{liar}", "--tolerance", "1e-6", "--verify")
        self.assertIn("refuted: row 0", result.err)

    def test_refusals_say_the_numbers_and_leave_nothing(self):
        files = self.make()
        cases = [
            (("--kernel", "low-rank", "--tolerance", "1e-3", "--scale", "100"), RESOURCE_GUARD, "rank C("),
            (("--kernel", "low-rank", "--tolerance", "1e-3", "--max-rank", "10"), RESOURCE_GUARD, "allowed are 10"),
            (("--kernel", "low-rank-f32", "--tolerance", "1e-8"), RESOURCE_GUARD, "float32 arithmetic is proved to reach"),
            (("--kernel", "low-rank", "--tolerance", "1e-3", "--entry-bound", "0.1"), BAD_USAGE, "planned for at most"),
            (("--kernel", "low-rank"), BAD_USAGE, "--tolerance"),
            (("--kernel", "low-rank", "--tolerance", "0"), BAD_USAGE, "positive"),
            (("--kernel", "low-rank", "--tolerance", "-1"), BAD_USAGE, "positive"),
            (("--kernel", "low-rank", "--tolerance", "nan"), BAD_USAGE, "nan"),
            (("--kernel", "exact", "--entry-bound", "1"), BAD_USAGE, "low-rank"),
            (("--kernel", "lowrank", "--tolerance", "1"), BAD_USAGE, "did you mean 'low-rank'"),
            (("--verify",), BAD_USAGE, "--tolerance"),
        ]
        for arguments, status, words in cases:
            with self.subTest(arguments=arguments):
                result = self.expect(status, "attend", *files, "-o", "none.npy", *arguments, "--quiet")
                self.assertIn(words, result.err)
                self.assertEqual(result.err.count("\n"), 1)
                self.assertFalse((self.folder / "none.npy").exists())

    def test_bad_matrices(self):
        files = self.make()
        rows = [row[:] for row in self.k]
        rows[5][2] = math.nan
        write_npy(self.folder / "k.npy", rows)
        result = self.expect(BAD_USAGE, "attend", *files, "--kernel", "low-rank", "--tolerance", "1e-3")
        self.assertIn("K[5,2]", result.err)
        write_npy(self.folder / "k.npy", [row[:3] for row in self.k])
        self.expect(BAD_USAGE, "attend", *files, "--kernel", "low-rank", "--tolerance", "1e-3")
        self.write("k.npy", b"not an array")
        self.assertIn("k.npy", self.expect(BAD_USAGE, "attend", *files).err)
        self.assertIn("gone.npy", self.expect(BAD_USAGE, "attend", "gone.npy", "k.npy", "v.npy").err)

    def test_generated_instances_as_text_and_as_arrays(self):
        for family in ("random", "clustered", "extremal", "opposed"):
            sizes = ("-n", 70, "--num-keys", 130, "-d", 3, "--value-dim", 2, "-B", "1.5", "--seed", 7, "--tolerance", "1e-4")
            self.expect(DONE, "gen", "attention", family, *sizes, "-o", "x.attention")
            self.expect(DONE, "gen", "attention", family, *sizes, "--npy", "-o", "x")
            outputs = []
            for files in (("x.attention",), ("x.q.npy", "x.k.npy", "x.v.npy", "--tolerance", "1e-4")):
                out = self.expect_json(DONE, "attend", *files, "--kernel", "low-rank", "--verify", "-o", "out.npy")
                self.assertEqual(out["verification"]["verdict"], "certified")
                self.assertLessEqual(out["plan"]["radius"], 2.25 * (1 + 1e-9))
                outputs.append(read_npy(self.folder / "out.npy"))
            self.assertEqual(outputs[0], outputs[1])
        entries = {abs(x) for row in read_npy(self.folder / "x.q.npy") for x in row}
        self.assertEqual(entries, {1.5})
        self.expect(BAD_USAGE, "gen", "ov", "iid", "-n", 4, "-d", 8, "--npy", "-o", "y")
        self.expect(BAD_USAGE, "gen", "attention", "random", "-n", 4, "-d", 2, "--npy", "-o", "-")
        self.expect(BAD_USAGE, "attend", "x.attention", "x.q.npy")
        self.expect(BAD_USAGE, "attend", "x.attention", "--scale", "1")

    def test_dry_run_only_plans(self):
        files = self.make()
        out = self.expect_json(DONE, "attend", *files, "-o", "none.npy", "--kernel", "low-rank", "--tolerance", "1e-3", "--dry-run")
        self.assertIn("plan", out)
        self.assertNotIn("seconds", out)
        self.assertFalse((self.folder / "none.npy").exists())


if __name__ == "__main__":
    unittest.main()

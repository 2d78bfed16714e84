"""subquad attend with knn, sampled and anna: against plain Python, certificates, refusals."""

import json
import math
import random
import unittest

from npy_files import read_npy, write_npy
from subquad_command import BAD_USAGE, DONE, CommandTest


def dot(x, y):
    return math.fsum(a * b for a, b in zip(x, y))


class AttendNeighborsTest(CommandTest):
    def make(self, n=40, n_k=70, d=4, d_v=2, bound=1.5, seed=1):
        rng = random.Random(seed)
        matrix = lambda rows, cols: [[rng.uniform(-bound, bound) for _ in range(cols)] for _ in range(rows)]
        self.q, self.k, self.v = matrix(n, d), matrix(n_k, d), matrix(n_k, d_v)
        for name, rows in (("q", self.q), ("k", self.k), ("v", self.v)):
            write_npy(self.folder / f"{name}.npy", rows)
        return ["q.npy", "k.npy", "v.npy"]

    def attention(self, scale, keep):
        """Softmax attention over the keys keep(row index, list of keys by descending score)."""
        out, mass = [], []
        for i, row in enumerate(self.q):
            order = sorted(range(len(self.k)), key=lambda j: (-dot(row, self.k[j]), j))
            weights = {j: math.exp(scale * dot(row, self.k[j])) for j in order}
            kept = keep(i, order)
            total = math.fsum(weights[j] for j in kept)
            out.append([math.fsum(weights[j] * self.v[j][c] for j in kept) / total for c in range(len(self.v[0]))])
            mass.append(1 - total / math.fsum(weights.values()))
        return out, mass

    def difference(self, expected, name="out.npy"):
        found = read_npy(self.folder / name)
        return max(abs(x - y) for a, b in zip(found, expected) for x, y in zip(a, b))

    def test_knn_is_attention_over_the_best_keys_with_a_certificate(self):
        files = self.make()
        exact, _ = self.attention(2.0, lambda i, order: order)
        for k in (1, 7, 70):
            report = self.expect_json(DONE, "attend", *files, "-o", "out.npy", "--kernel", "knn", "--k", k, "--scale", "2")
            best, mass = self.attention(2.0, lambda i, order: order[:k])
            self.assertLessEqual(self.difference(best), 1e-13)
            self.assertLessEqual(max(mass), report["tail_mass"]["max"] + 1e-15)
            self.assertLessEqual(self.difference(exact), report["error_bound"])
        self.assertEqual(report["tail_mass"]["max"], 0)
        self.assertLess(report["error_bound"], 1e-10)

    def test_knn_by_tolerance_is_certified(self):
        files = self.make()
        report = self.expect_json(DONE, "attend", *files, "--kernel", "knn", "--scale", "20", "--tolerance", "1e-3", "--verify")
        self.assertEqual(report["verification"]["verdict"], "certified")
        self.assertLessEqual(report["error_bound"], 1e-3)
        self.assertLess(report["keys"]["median"], 70)

    def test_knn_with_a_causal_mask(self):
        files = self.make(n=70)
        self.expect(DONE, "attend", *files, "-o", "out.npy", "--kernel", "knn", "--k", "5", "--causal")
        expected, _ = self.attention(0.25, lambda i, order: [j for j in order if j <= i][:5])
        self.assertLessEqual(self.difference(expected), 1e-13)

    def test_an_approximate_index_promises_nothing_without_a_gap(self):
        files = self.make()
        free = self.expect_json(DONE, "attend", *files, "--kernel", "knn", "--k", "9", "--index", "lsh")
        self.assertEqual(free["error_bound"], "inf")
        bound = self.expect_json(DONE, "attend", *files, "--kernel", "knn", "--k", "9", "--index", "lsh", "--gap", "1")
        self.assertLess(bound["error_bound"], 10)

    def test_sampled_is_near_and_repeats_itself(self):
        files = self.make()
        exact, _ = self.attention(0.25, lambda i, order: order)
        for estimator in ("mean", "median-of-means", "upweighted"):
            arguments = ("attend", *files, "--kernel", "sampled", "--estimator", estimator, "--tolerance", "0.3", "--delta", "1e-9")
            self.expect(DONE, *arguments, "-o", "out.npy", "--seed", "0")
            self.assertLessEqual(self.difference(exact), 0.3)
            self.expect(DONE, *arguments, "-o", "again.npy", "--seed", "0", "--threads", "3")
            self.assertEqual(read_npy(self.folder / "out.npy"), read_npy(self.folder / "again.npy"))
            self.expect(DONE, *arguments, "-o", "other.npy", "--seed", "1")
            self.assertNotEqual(read_npy(self.folder / "out.npy"), read_npy(self.folder / "other.npy"))

    def test_anna_averages_near_keys(self):
        files = self.make()
        write_npy(self.folder / "q.npy", self.k[:40])  # each query is a key
        report = self.expect_json(DONE, "attend", *files, "-o", "out.npy", "--kernel", "anna", "--radius", "1e-9", "--ratio", "1000", "--failure", "1e-6")
        self.assertEqual(report["rows_without_neighbour"], 0)
        self.assertLessEqual(report["plan"]["failure_bound"], 1e-6)
        self.assertLessEqual(self.difference(self.v[:40]), 1e-15)

    def test_refusals(self):
        files = self.make()
        cases = [
            (("--kernel", "knn"), "knn needs --k K, or --tolerance"),
            (("--kernel", "knn", "--k", "0"), "k = 0 for 70 keys, expected 1 to 70"),
            (("--kernel", "knn", "--k", "71"), "k = 71 for 70 keys"),
            (("--kernel", "knn", "--k", "3", "--scale", "-1"), "scale -1"),
            (("--kernel", "knn", "--k", "3", "--index", "hnsw"), "expected exact, lsh or faiss"),
            (("--kernel", "knn", "--k", "3", "--gap", "1"), "--gap is for approximate indexes"),
            (("--kernel", "knn", "--k", "3", "--index", "lsh", "--gap", "-1"), "--gap: -1"),
            (("--kernel", "knn", "--k", "3", "--index", "lsh", "--causal"), "has no masks"),
            (("--kernel", "exact", "--k", "3"), "--k is for --kernel knn, sampled only"),
            (("--kernel", "knn", "--k", "3", "--samples", "3"), "--samples is for --kernel sampled only"),
            (("--kernel", "exact", "--radius", "1"), "--radius is for --kernel anna only"),
            (("--kernel", "sampled"), "either --samples N, or --tolerance T with --delta D"),
            (("--kernel", "sampled", "--samples", "0"), "0 samples"),
            (("--kernel", "sampled", "--delta", "0.1"), "--delta needs --tolerance"),
            (("--kernel", "sampled", "--delta", "1", "--tolerance", "1"), "delta = 1"),
            (("--kernel", "anna", "--radius", "0", "--ratio", "2", "--failure", "0.1"), "r = 0"),
            (("--kernel", "anna", "--radius", "1", "--ratio", "1", "--failure", "0.1"), "c = 1"),
            (("--kernel", "anna", "--radius", "1", "--ratio", "9", "--failure", "0"), "failure"),
            (("--kernel", "anna", "--radius", "1", "--ratio", "9", "--failure", "0.1", "--verify", "--tolerance", "1"), "anna run --verify"),
        ]
        for arguments, words in cases:
            with self.subTest(arguments=arguments):
                result = self.expect(BAD_USAGE, "attend", *files, "-o", "none.npy", *arguments, "--quiet")
                self.assertIn(words, result.err)
                self.assertEqual(result.err.count("\n"), 1)
                self.assertFalse((self.folder / "none.npy").exists())


class KnnChainTest(CommandTest):
    def test_knn_decides_formulas(self):
        (self.folder / "yes.cnf").write_text("p cnf 4 3\n1 2 0\n-1 3 0\n-3 4 0\n")
        (self.folder / "no.cnf").write_text("p cnf 2 4\n1 2 0\n-1 2 0\n1 -2 0\n-1 -2 0\n")
        self.assertIn("s SATISFIABLE", self.expect(10, "chain", "yes.cnf", "--kernel", "knn").out)
        self.assertIn("s UNSATISFIABLE", self.expect(20, "chain", "no.cnf", "--kernel", "knn").out)


if __name__ == "__main__":
    unittest.main()

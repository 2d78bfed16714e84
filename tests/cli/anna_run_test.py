"""subquad anna: plans, runs on matrices in both memories, weights files, the verifier, refusals."""

import math
import random
import unittest

from npy_files import read_npy, write_npy
from subquad_command import BAD_USAGE, DONE, REFUTED, RESOURCE_GUARD, CommandTest

PLAN = ("--radius", "0.5", "--ratio", "8", "--failure", "0.001")


def read_weights(path):
    """Header words and counts {(query, key): count}, read by other code than the command's."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("c ")]
    counts = {}
    for line in lines[1:]:
        query, key, count = map(int, line.split())
        counts[query, key] = count
    return lines[0].split(), counts


class AnnaTest(CommandTest):
    def make(self, n=40, n_k=60, d=3, d_v=2, seed=1):
        """Keys in tight clusters that are far apart; queries beside clusters, the last one alone."""
        rng = random.Random(seed)
        centres = [[20 * rng.uniform(-1, 1) for _ in range(d)] for _ in range(8)]
        near = lambda: [x + 0.05 * rng.uniform(-1, 1) for x in rng.choice(centres)]
        self.q = [near() for _ in range(n - 1)] + [[1000.0] * d]
        self.k = [near() for _ in range(n_k)]
        self.v = [[rng.uniform(-1, 1) for _ in range(d_v)] for _ in range(n_k)]
        for name, rows in (("q", self.q), ("k", self.k), ("v", self.v)):
            write_npy(self.folder / f"{name}.npy", rows)
        return ["q.npy", "k.npy", "v.npy"]

    def test_plan_keeps_its_bound_and_says_the_costs(self):
        out = self.expect_json(DONE, "anna", "plan", "--queries", 16000, "--dim", 8, "--value-dim", 4, "--radius", 1, "--ratio", 10, "--failure", 0.01)
        self.assertEqual(out["schema"], "subquad.anna.plan/1")
        self.assertLessEqual(out["failure_bound"], 0.01)
        z, l, pairs = out["code_length"], out["tables"], 16000**2
        never = lambda p: math.exp(l * math.log1p(-(p**z)))
        meets = -math.expm1(l * math.log1p(-(out["far_probability"] ** z)))
        bound = pairs * (meets + never(out["near_probability"]))
        self.assertAlmostEqual(bound, out["failure_bound"], delta=1e-6 * bound + 1e-12)
        self.assertTrue(out["gain"])
        again = self.expect_json(DONE, "anna", "plan", "--queries", 16000, "--dim", 8, "--value-dim", 4, "--radius", 1, "--ratio", 10,
                                 "--family", out["family"].replace("(W=", ":").rstrip(")"), "--code-length", z, "--tables", l)
        self.assertAlmostEqual(again["failure_bound"], out["failure_bound"], delta=1e-3 * bound)
        self.assertEqual(again["operations"], out["operations"])

    def test_both_memories_give_the_same_file_and_the_verifier_certifies(self):
        files = self.make()
        outputs = {}
        for memory in ("linear", "tables"):
            out = self.expect_json(DONE, "anna", "run", *files, *PLAN, "--memory", memory, "-o", f"{memory}.npy", "--weights", "w", "--verify", "--compare")
            outputs[memory] = (self.folder / f"{memory}.npy").read_bytes()
            self.assertEqual(out["verification"]["verdict"], "certified")
            self.assertEqual(out["rows_without_neighbour"], 1)
            self.assertGreater(out["exact_seconds"], 0)
            self.assertEqual(out["verification"]["evidence"]["false_pairs"], 0)
        self.assertEqual(outputs["linear"], outputs["tables"])
        # The definition once more, from the files alone.
        header, counts = read_weights(self.folder / "w")
        found = read_npy(self.folder / "linear.npy")
        self.assertEqual(header[:8], ["p", "anna-weights", "40", "60", "euclidean", "0.5", "8", str(out["plan"]["tables"])])
        for i, query in enumerate(self.q):
            row = {j: counts[i, j] for j in range(len(self.k)) if (i, j) in counts}
            total = sum(row.values())
            for c in range(2):
                mean = math.fsum(n * self.v[j][c] for j, n in row.items()) / total if total else 0.0
                error = abs(found[i][c] - mean)
                self.assertLessEqual(error, 1e-12)
            for j, key in enumerate(self.k):
                distance = math.dist(query, key)
                self.assertFalse(distance <= 0.5 and j not in row)
                self.assertFalse(distance > 4 and j in row)
        self.assertEqual(found[-1], [0.0, 0.0])

    def test_seeds_repeat_and_differ(self):
        files = self.make()
        run = lambda seed, name: (self.expect(DONE, "anna", "run", *files, *PLAN, "--seed", seed, "--weights", name), read_weights(self.folder / name)[1])[1]
        self.assertEqual(run(5, "a"), run(5, "b"))
        self.assertNotEqual(run(5, "a"), run(6, "c"))

    def test_verify_judges_files(self):
        files = self.make()
        self.expect(DONE, "anna", "run", *files, *PLAN, "-o", "out.npy", "--weights", "w")
        certified = self.expect(DONE, "verify", "anna", "q.npy", "k.npy", "w")
        self.assertIn("certified: all 40 rows", certified.out)
        self.assertIn("output: all 80 entries", self.expect(DONE, "verify", "anna", *files, "out.npy", "w").out)
        self.assertIn("A3: no key has a count", self.expect(REFUTED, "verify", "anna", "q.npy", "k.npy", "w", "--strict").out)
        # r = c r = the whole space: every pair would need weight.
        wide = self.expect(REFUTED, "verify", "anna", "q.npy", "k.npy", "w", "--radius", "1e4", "--ratio", "1")
        self.assertIn("A2: key", wide.out)
        self.assertIn("A1: key", self.expect(REFUTED, "verify", "anna", "q.npy", "k.npy", "w", "--radius", "1e-9", "--ratio", "1").out)
        # A lost count, and an output that is off.
        lines = (self.folder / "w").read_text().splitlines(keepends=True)
        header = next(i for i, line in enumerate(lines) if line.startswith("p "))
        words = lines[header].split()
        words[-1] = str(int(words[-1]) - 1)
        self.write("less", "".join(lines[:header] + [" ".join(words) + "\n"] + lines[header + 2:]))
        self.assertIn("has count 0", self.expect(REFUTED, "verify", "anna", "q.npy", "k.npy", "less").out)
        wrong = read_npy(self.folder / "out.npy")
        wrong[3][1] += 1e-9
        write_npy(self.folder / "wrong.npy", wrong)
        self.assertIn("output: row 3 column 1", self.expect(REFUTED, "verify", "anna", *files, "wrong.npy", "w").out)

    def test_families_of_directions_and_bits(self):
        rng = random.Random(3)
        directions = [[1.0, 0.02 * rng.uniform(-1, 1), 0.0] for _ in range(20)] + [[-1.0, 0.0, 0.02 * rng.uniform(-1, 1)] for _ in range(20)]
        bits = [[float(rng.random() < 0.03) for _ in range(64)] for _ in range(20)] + [[float(rng.random() > 0.03) for _ in range(64)] for _ in range(20)]
        for families, rows, radius, ratio in ((("hyperplane", "cross-polytope", "spherical-cap", "spherical-cap:1.2,40"), directions, 0.1, 15), (("bit-sampling",), bits, 6, 6)):
            write_npy(self.folder / "x.npy", rows)
            for family in families:
                with self.subTest(family=family):
                    out = self.expect_json(DONE, "anna", "run", "x.npy", "x.npy", "x.npy", "--radius", radius, "--ratio", ratio, "--failure", "1e-4", "--family", family, "--verify")
                    self.assertEqual(out["verification"]["verdict"], "certified")
                    self.assertEqual(out["verification"]["evidence"]["metric"], "hamming" if family == "bit-sampling" else "angular")

    def test_too_few_tables_are_refuted(self):
        """The control: one table of many functions misses near keys."""
        files = self.make()
        result = self.expect(REFUTED, "anna", "run", *files, "--radius", 2, "--ratio", 2, "--family", "e2lsh:1", "--code-length", 12, "--tables", 1, "--verify")
        self.assertIn("refuted: row", result.err)
        self.assertIn("fails with probability <= 1 ", result.err)

    def test_linear_memory_does_not_grow_with_the_tables(self):
        """Measured: the process's peak, beside the counted one."""
        files = self.make(n=4000, n_k=4000, d_v=32)
        peaks = {}
        for memory in ("linear", "tables"):
            for tables in (2, 200):
                out = self.expect_json(DONE, "anna", "run", *files, "--radius", 0.5, "--ratio", 8, "--family", "e2lsh:0.02", "--code-length", 4, "--tables", tables, "--memory", memory, "--threads", 1)
                peaks[memory, tables] = (out["peak_bytes"], out["peak_memory_bytes"])
        self.assertEqual(peaks["linear", 2][0], peaks["linear", 200][0])
        # 198 tables of some 3000 buckets with 33 numbers each, and their codes and slots.
        counted = peaks["tables", 200][0] - peaks["tables", 2][0]
        self.assertGreaterEqual(counted, 198 * 2500 * 33 * 8)
        # A process's peak starts at that of its parent (this script), some 30 MB, on top of which small growth is hidden.
        grown = {memory: peaks[memory, 200][1] - peaks[memory, 2][1] for memory in ("linear", "tables")}
        self.assertGreaterEqual(grown["tables"], 0.7 * counted)
        self.assertLessEqual(grown["linear"], 0.05 * counted)

    def test_dry_run_and_refusals(self):
        files = self.make()
        out = self.expect_json(DONE, "anna", "run", *files, *PLAN, "-o", "none.npy", "--dry-run")
        self.assertTrue(out["dry_run"])
        self.assertFalse((self.folder / "none.npy").exists())
        plan = ("anna", "plan", "--queries", 100, "--dim", 3)
        for status, part, *command in [
            (BAD_USAGE, "radius r = 0", *plan, "--radius", 0, "--ratio", 2, "--failure", 0.1),
            (BAD_USAGE, "--radius: 'nan'", *plan, "--radius", "nan", "--ratio", 2, "--failure", 0.1),
            (BAD_USAGE, "ratio c = 1", *plan, "--radius", 1, "--ratio", 1, "--failure", 0.1),
            (BAD_USAGE, "failure probability 1,", *plan, "--radius", 1, "--ratio", 2, "--failure", 1),
            (BAD_USAGE, "failure probability -0.5", *plan, "--radius", 1, "--ratio", 2, "--failure", -0.5),
            (BAD_USAGE, "expected either --failure", *plan, "--radius", 1, "--ratio", 2),
            (BAD_USAGE, "expected both or none", *plan, "--radius", 1, "--ratio", 2, "--tables", 3),
            (BAD_USAGE, "did you mean 'hyperplane'", *plan, "--radius", 1, "--ratio", 2, "--failure", 0.1, "--family", "hyperplan"),
            (BAD_USAGE, "distances up to 2 only", *plan, "--radius", 1, "--ratio", 3, "--failure", 0.1, "--family", "hyperplane"),
            (BAD_USAGE, "e2lsh: width -1", *plan, "--radius", 1, "--ratio", 3, "--failure", 0.1, "--family", "e2lsh:-1"),
            (BAD_USAGE, "expected numbers", *plan, "--radius", 1, "--ratio", 3, "--failure", 0.1, "--family", "e2lsh:x"),
            (RESOURCE_GUARD, "tables", *plan, "--radius", 1, "--ratio", 1.01, "--failure", 0.1, "--max-tables", 10),
            (BAD_USAGE, "expected 0 or 1", "anna", "run", *files, "--radius", 1, "--ratio", 2, "--failure", 0.1, "--family", "bit-sampling"),
            (BAD_USAGE, "--radius, --ratio and --strict are for anna only", "verify", "exp-polynomial", "f", "--strict"),
            (BAD_USAGE, "2 files given", "verify", "anna", "q.npy", "k.npy"),
            (BAD_USAGE, "gone.npy", "anna", "run", "gone.npy", "k.npy", "v.npy", *PLAN),
        ]:
            with self.subTest(command=command):
                result = self.expect(status, *command, "--quiet")
                self.assertIn(part, result.err)
                self.assertEqual(result.err.count("\n"), 1, result.err)
        write_npy(self.folder / "zero.npy", [[0.0, 0.0, 0.0]] * 40)
        result = self.expect(BAD_USAGE, "anna", "run", "zero.npy", "k.npy", "v.npy", "--radius", 0.1, "--ratio", 5, "--failure", 0.1, "--family", "hyperplane", "--quiet")
        self.assertIn("row 0 of Q is zero", result.err)
        self.expect(DONE, "anna", "run", *files, *PLAN, "--weights", "w")
        write_npy(self.folder / "short.npy", self.q[:5])
        self.assertIn("Q has 5 rows", self.expect(BAD_USAGE, "verify", "anna", "short.npy", "k.npy", "w").err)


if __name__ == "__main__":
    unittest.main(verbosity=1)

"""subquad experiment: the transition table against its definition, the crossover's promises, plots that are XML."""

import json
import math
import unittest
import xml.etree.ElementTree as xml

from subquad_command import BAD_USAGE, DONE, RESOURCE_GUARD, CommandTest


class ExperimentTest(CommandTest):
    def rows(self, *arguments):
        lines = self.expect(DONE, "experiment", *arguments, "--quiet").out.splitlines()
        return json.loads(lines[0]), [json.loads(line) for line in lines[1:]]

    def test_transition_has_both_sides(self):
        head, rows = self.rows("transition", "-c", "0.1,1", "--from", "8", "--to", "60", "--step", "26", "--svg", "t.svg")
        self.assertEqual(head["schema"], "subquad.experiment.transition/1")
        self.assertEqual(len(rows), 6)
        for row in rows:
            n = row["log2_n"] * math.log(2)
            self.assertEqual(row["dim"], math.ceil(n))
            self.assertAlmostEqual(row["radius"], row["c"] ** 2 * n, places=6)
            self.assertAlmostEqual(row["log2_rank"], math.log2(math.comb(row["degree"] + row["dim"], row["dim"])), places=6)
            self.assertEqual(row["degree_is"], "certified")
            # eps = 4x/(4 + x^2) with x = n^-2/B
            x = 2.0 ** (-2 * row["log2_n"]) / row["entry_bound"]
            self.assertAlmostEqual(row["log2_epsilon"], math.log2(4 * x / (4 + x * x)), places=6)
            self.assertTrue(row["rank_exponent"] < 1 if row["c"] == 0.1 else row["rank_exponent"] > 1, row)
            self.assertGreater(row["paper_rank_exponent"], row["rank_exponent"])
        self.assertEqual(xml.parse(self.folder / "t.svg").getroot().tag, "{http://www.w3.org/2000/svg}svg")

    def test_crossover_is_measured_and_certified(self):
        head, rows = self.rows("crossover", "--dims", "2,4", "--from", "4", "--to", "11", "--repetitions", "3", "--svg", "x.svg")
        self.assertEqual([c["dim"] for c in head["crossovers"]], [2, 4])
        for row in rows:
            self.assertTrue(row["certified"])
            self.assertLessEqual(row["error_bound"], 1e-3)
            self.assertGreater(row["exact_seconds"], 0)
        xml.parse(self.folder / "x.svg")

    def test_degrees_of_a_decaying_exponential(self):
        head, rows = self.rows("degrees", "--table", "decaying", "--sizes", "1,16,64", "--epsilons", "1e-1,1e-4,1e-16")
        self.assertEqual([row["degree"] for row in rows], [1, 4, 12, 4, 11, 28, 8, 22, 50])
        self.assertEqual((head["certified"], head["cells"]), (9, 9))
        for row in rows:
            self.assertLess(float(row["error_bound"]), float(row["epsilon"]))
            self.assertGreaterEqual(float(row["lower_bound"]), float(row["epsilon"]))

    def test_knn_errors_are_within_their_certificates(self):
        head, rows = self.rows("knn-error", "-n", "150", "-d", "8", "--heads", "2", "-b", "2,10", "-k", "3,ln n,n^1/2,150", "--svg", "k.svg")
        self.assertEqual(len(rows), 3 * 2 * 4)
        self.assertEqual([row["k"] for row in rows[:4]], [3, 6, 13, 150])
        for row in rows:
            self.assertLessEqual(row["slack"], 1)
            self.assertLessEqual(row["max_error"], row["max_error_bound"])
            self.assertLessEqual(row["mean_error"], row["max_error"])
            if row["k"] == 150:
                self.assertEqual((row["max_tail_mass"], row["upweighted_bound"]), (0, 0))
                self.assertLess(row["max_error"], 1e-9)
        xml.parse(self.folder / "k.svg")

    def test_knn_times_stand_side_by_side(self):
        head, rows = self.rows("knn-time", "-n", "200,400", "-d", "8", "--repetitions", "1", "-k", "3", "--svg", "t.svg")
        self.assertEqual([r["method"] for r in rows[:3]], ["exact", "top-k exact search", "top-k lsh"])
        for row in rows:
            self.assertGreater(row["seconds"], 0)
            self.assertLessEqual(row["recall"], 1)
            self.assertEqual(row["mean_tail_mass"] is not None, row["method"] == "top-k exact search")
        xml.parse(self.folder / "t.svg")

    def test_descent_with_estimated_gradients_descends(self):
        head, rows = self.rows("gradient-descent", "-n", "30", "--steps", "40", "--samples", "30", "--svg", "d.svg")
        for loss in ("squared", "cross-entropy"):
            first, last = [row for row in rows if row["loss"] == loss][0], [row for row in rows if row["loss"] == loss][-1]
            self.assertEqual(first["exact"], first["sampled"])
            for method in ("exact", "sampled", "upweighted"):
                self.assertLess(last[method], first[method])
            self.assertLess(abs(last["upweighted"] - last["exact"]), 0.1 * first["exact"])
        xml.parse(self.folder / "d.svg")

    def test_gradient_quality_grows_with_the_samples(self):
        head, rows = self.rows("gradient-quality", "-n", "100", "--samples", "1,3000")
        exact = [row for row in rows if row["method"] == "exact float32"]
        self.assertEqual(len(exact), 3)
        for row in exact:
            self.assertGreater(row["cosine"], 0.99999)
        for method in ("sampled", "up-weighted"):
            for gradient in ("dQ", "dK", "dV"):
                few, many = [row["cosine"] for row in rows if row["method"] == method and row["gradient"] == gradient]
                self.assertGreater(many, few)
                self.assertGreater(many, 0.9)

    def test_refusals_of_neighbour_experiments(self):
        for arguments, words in (
            (("knn-error", "-n", "1"), "n = 1"),
            (("knn-error", "-b", "0"), "b = 0"),
            (("knn-error", "-k", "0"), "k = '0'"),
            (("knn-error", "-k", "n"), "k = 'n'"),
            (("knn-error", "--layouts", "square"), "no layout is called 'square'"),
            (("knn-error", "--delta", "1"), "delta = 1"),
            (("knn-time", "-n", "1"), "n = 1"),
            (("knn-time", "--repetitions", "0"), "0 repetitions"),
            (("gradient-descent", "--rate", "0"), "rate 0"),
            (("gradient-descent", "--samples", "0"), "0 samples"),
            (("gradient-quality", "--samples", "0"), "no sample"),
        ):
            with self.subTest(arguments=arguments):
                self.assertIn(words, self.expect(BAD_USAGE, "experiment", *arguments, "--quiet").err)

    def test_refusals(self):
        cases = [
            (("transition", "-c", "0"), BAD_USAGE, "expected 0 < c"),
            (("transition", "--from", "0"), BAD_USAGE, "2^1 to 2^60"),
            (("transition", "--to", "61"), BAD_USAGE, "2^1 to 2^60"),
            (("transition", "--growth", "2"), BAD_USAGE, "from 0 to 1"),
            (("degrees", "--epsilons", "2"), BAD_USAGE, "less than 1"),
            (("degrees", "--sizes", "x"), BAD_USAGE, "exact number"),
            (("degrees", "--sizes", "-1"), BAD_USAGE, "at least 0"),
            (("crossover", "--dims", "0"), BAD_USAGE, "dimension 0"),
            (("crossover", "--dims", "16", "--radius", "50", "--to", "6"), RESOURCE_GUARD, "rank"),
            (("crossover", "--tolerance", "0"), BAD_USAGE, "positive"),
            (("crossover", "--repetitions", "0"), BAD_USAGE, "at least 1"),
            ((), BAD_USAGE, ""),
            (("transitions",), BAD_USAGE, ""),
        ]
        for arguments, status, words in cases:
            with self.subTest(arguments=arguments):
                result = self.expect(status, "experiment", *arguments, "--quiet")
                self.assertIn(words, result.err)
                self.assertEqual(result.out, "")


if __name__ == "__main__":
    unittest.main()

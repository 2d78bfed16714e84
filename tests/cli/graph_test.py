#!/usr/bin/env python3
"""subquad graph and info."""

import math
import re
import sys
import xml.etree.ElementTree as ElementTree

sys.dont_write_bytecode = True

from subquad_command import BAD_USAGE, DONE, CommandTest, main  # noqa: E402

REDUCTIONS = {"cnf_to_ov", "cnf_to_p_ov", "ov_to_gap_ann", "ov_to_attention", "gap_ann_to_attention", "ann_to_gap_ann"}


def points_on(path):
    """Points along a path of M, C and L commands."""
    numbers = [tuple(map(float, pair.split(","))) for pair in re.findall(r"-?\d+,-?\d+", path)]
    letters = re.findall(r"[MCL]", path)
    at, points = numbers.pop(0), []
    for letter in letters[1:]:
        controls = [at] + [numbers.pop(0) for _ in range(3 if letter == "C" else 1)]
        degree = len(controls) - 1
        for step in range(101):
            t = step / 100
            weights = [math.comb(degree, i) * t**i * (1 - t) ** (degree - i) for i in range(degree + 1)]
            points.append(tuple(sum(w * c[axis] for w, c in zip(weights, controls)) for axis in (0, 1)))
        at = controls[-1]
    return points


class Graph(CommandTest):
    def test_text_names_everything_with_bounds_and_citations(self):
        text = self.expect(DONE, "graph").out
        for name in REDUCTIONS:
            self.assertIn(f"--{name}-->", text)
        self.assertIn("num_a = 2^", text)
        self.assertGreaterEqual(text.count("cite "), len(REDUCTIONS))

    def test_composed_bounds_from_cnf_to_attention(self):
        text = self.expect(DONE, "graph", "--from", "cnf", "--to", "attention").out
        self.assertIn("Path 1: cnf --cnf_to_ov--> ov --ov_to_attention--> attention\n", text)
        self.assertIn("num_queries = 2^ceil(num_variables/2)\n", text)
        self.assertIn("num_keys = 2^floor(num_variables/2) + 1\n", text)
        self.assertIn("dim = num_clauses + 1\n", text)
        self.assertIn("Path 2: cnf --cnf_to_ov--> ov --ov_to_gap_ann--> gap-ann --gap_ann_to_attention--> attention", text)

    def test_json(self):
        report = self.expect_json(DONE, "graph")
        self.assertEqual(report["schema"], "subquad.graph/1")
        self.assertLessEqual(REDUCTIONS, {r["name"] for r in report["reductions"]})
        fields = {p["id"]: p["size_fields"] for p in report["problems"]}
        for reduction in report["reductions"]:
            self.assertEqual([b["field"] for b in reduction["size_bounds"]], fields[reduction["target"]], reduction["name"])
        paths = self.expect_json(DONE, "graph", "--from", "cnf", "--to", "gap-ann")["paths"]
        self.assertEqual([p["reductions"] for p in paths], [["cnf_to_ov", "ov_to_gap_ann"]])

    def test_dot(self):
        text = self.expect(DONE, "graph", "--dot").out
        self.assertTrue(text.startswith("digraph"))
        self.assertEqual(text.count("{"), text.count("}"))
        for name in REDUCTIONS:
            self.assertIn(name, text)
        self.assertRegex(text, r'"ann" -> "gap-ann" \[.*style=dashed')

    def test_svg_is_well_formed_and_nothing_overlaps(self):
        self.expect(DONE, "graph", "--svg", "-o", "graph.svg")
        root = ElementTree.parse(self.folder / "graph.svg").getroot()
        space = "{http://www.w3.org/2000/svg}"
        boxes = [tuple(float(r.get(k)) for k in ("x", "y", "width", "height")) for r in root.iter(space + "rect") if r.get("x")]
        self.assertEqual(len(boxes), 6)
        for i, (x, y, w, h) in enumerate(boxes):
            self.assertLessEqual(x + w, float(root.get("width")))
            self.assertLessEqual(y + h, float(root.get("height")))
            for x2, y2, w2, h2 in boxes[:i]:
                self.assertTrue(x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y, "two boxes overlap")
        arrows = [p for p in root.iter(space + "path") if p.get("marker-end")]
        self.assertEqual(len(arrows), len(self.expect_json(DONE, "graph")["reductions"]))
        for arrow in arrows:
            for px, py in points_on(arrow.get("d")):
                for x, y, w, h in boxes:
                    self.assertFalse(x < px < x + w and y < py < y + h, f"the arrow {arrow.get('d')} runs through a box")

    def test_usage(self):
        self.expect_error(BAD_USAGE, "--to", "graph", "--from", "cnf")
        self.expect_error(BAD_USAGE, "no path", "graph", "--from", "attention", "--to", "cnf")
        self.expect_error(BAD_USAGE, "same problem", "graph", "--from", "ov", "--to", "ov")
        self.expect_error(BAD_USAGE, "--svg", "graph", "--svg", "--dot")


class Info(CommandTest):
    def test_json(self):
        report = self.expect_json(DONE, "info")
        self.assertEqual(list(report), ["schema", "version", "compiler", "build_type", "simd_targets", "threads", "available_memory_bytes",
                                        "libraries", "indexes", "kernels"])
        self.assertEqual([k["name"] for k in report["kernels"]], ["exact", "exact-f32", "rigorous", "low-rank", "low-rank-f32", "knn"])
        self.assertGreaterEqual(report["threads"], 1)
        self.assertTrue(all(re.search(r"\d", version) for version in report["libraries"].values()), report["libraries"])

    def test_text(self):
        text = self.expect(DONE, "info").out
        for word in ("compiler", "libraries", "indexes", "kernels", "exact-f32"):
            self.assertIn(word, text)


if __name__ == "__main__":
    main()

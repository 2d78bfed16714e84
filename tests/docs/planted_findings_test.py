#!/usr/bin/env python3
"""Negative tests of check_docs.py: each fault is planted into a copy of the checkout and must be found."""

import re
import shutil
import stat
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True

from check_docs import findings  # noqa: E402
from checks.book import PAGE_FOLDERS  # noqa: E402
from checks.doc_comments import undocumented  # noqa: E402
from checks.transcripts import masked, matches  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]

ENTRY = """
- id: ZZ.PLANTED
  title: Planted
  statement: Nothing holds.
  status: ours
  proof: docs/README.md
  header: sat/cnf.hpp
  test: "tests/docs/planted.cpp: Planted.Holds"
  control: "tests/docs/planted.cpp: planted_fault"
"""


class PlantedFindings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="subquad-docs-")
        cls.clean = Path(cls.folder.name) / "clean"
        cls.clean.mkdir()
        for folder in PAGE_FOLDERS + ("cmake",):
            shutil.copytree(ROOT / folder, cls.clean / folder)
        for path in list(ROOT.glob("*.md")) + [ROOT / "CMakeLists.txt"]:
            shutil.copy(path, cls.clean / path.name)
        cls.before = set(findings(cls.clean))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def setUp(self):
        self.root = Path(self.folder.name) / "planted"
        shutil.copytree(self.clean, self.root)
        self.write("tests/docs/planted.cpp", "TEST(Planted, Holds) { planted_fault(); }\n")
        self.append("sat/cnf.hpp", "\n// ZZ.PLANTED\n")

    def tearDown(self):
        shutil.rmtree(self.root)

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def append(self, path, text):
        file = self.root / path
        self.write(path, (file.read_text() if file.exists() else "") + text)

    def fresh(self, subquad=None):
        return [f for f in findings(self.root, subquad) if f not in self.before]

    def assert_found(self, pattern, subquad=None):
        found = self.fresh(subquad)
        self.assertTrue(any(re.search(pattern, f) for f in found), f"nothing like {pattern!r} in {found}")

    def test_sound_entry_is_accepted(self):
        self.append("docs/theorems.yaml", ENTRY)
        self.assertEqual(self.fresh(), [])

    # ledger
    def test_entries(self):
        for old, new, pattern in [
            ("id: ZZ.PLANTED", "name: x", r"has no id"),
            ("status: ours", "status: believed", r"status 'believed'"),
            ("status: ours", "status: proved-elsewhere", r"needs the field key"),
            ("  proof: docs/README.md\n", "", r"ours needs the field proof"),
            ("proof: docs/README.md", "proof: docs/proofs/ghost.md", r"proof: docs/proofs/ghost.md does not exist"),
            ("  control: ", "  colour: ", r"unknown field colour"),
            ("Planted.Holds", "Planted.Vanished", r"has no test Planted.Vanished"),
            ("planted_fault", "fault_that_is_gone", r"does not contain fault_that_is_gone"),
            ("header: sat/cnf.hpp", "header: sat/dimacs.hpp", r"sat/dimacs.hpp does not mention ZZ.PLANTED"),
            ("  statement: Nothing holds.\n", "", r"needs the field statement"),
        ]:
            with self.subTest(new=new):
                self.assertIn(old, ENTRY)
                text = (self.clean / "docs/theorems.yaml").read_text()
                self.write("docs/theorems.yaml", text + ENTRY.replace(old, new))
                self.assert_found(pattern)

    def test_entry_twice(self):
        self.append("docs/theorems.yaml", ENTRY + ENTRY)
        self.assert_found(r"ZZ.PLANTED: twice")

    def test_unknown_key_in_ledger(self):
        self.append("docs/theorems.yaml", ENTRY + "  key: Nobody99\n")
        self.assert_found(r"key Nobody99 is not in docs/references.bib")

    # citations
    def test_unknown_theorem(self):
        self.append("sat/cnf.hpp", "\n// implements SQ.NOTHING\n")
        self.assert_found(r"sat/cnf.hpp:\d+: SQ.NOTHING is not in docs/theorems.yaml")

    def test_unknown_claim_of_a_reduction(self):
        self.append("reductions/registry.cpp", '\n  info.claim = "Nonsense";\n')
        self.assert_found(r'reductions/registry.cpp: claim "Nonsense"')

    def test_unknown_and_uncited_bibliography_key(self):
        self.append("docs/notation.md", "\nSee [Nobody99].\n")
        self.append("docs/references.bib", "\n@misc{Silent98,\n  title = {Silence}\n}\n")
        self.assert_found(r"docs/notation.md:\d+: Nobody99 is not in docs/references.bib")
        self.assert_found(r"docs/references.bib: Silent98 is cited nowhere")

    def test_path_that_does_not_exist(self):
        self.append("lib/core/error.cpp", "\n// see docs/proofs/ghost.md\n")
        self.assert_found(r"lib/core/error.cpp:\d+: docs/proofs/ghost.md does not exist")

    # pages
    def test_links(self):
        self.append("docs/notation.md", "\n[ghost](ghost.md) [nowhere](#no-such-heading-here)\n")
        self.assert_found(r"link to ghost.md, which does not exist")
        self.assert_found(r"no heading gives #no-such-heading-here")

    def test_long_readme(self):
        self.append("README.md", "\n" * 121)
        self.assert_found(r"README.md: \d+ lines, limit 120")

    def test_examples(self):
        self.write("docs/examples/planted.cpp", "int main() {}\n")
        self.assert_found(r"docs/examples/planted.cpp: no page quotes this example")
        self.append("docs/notation.md", "\n<!-- file: docs/examples/planted.cpp -->\n```cpp\nint main() { }\n```\n")
        self.assert_found(r"docs/notation.md: its copy of docs/examples/planted.cpp differs")

    # doc comments
    def test_undocumented_declarations(self):
        self.append(
            "sat/cnf.hpp", "\nnamespace subquad::sat {\n\nstruct Planted {\n  int x;\n};\n\nint planted(int x);\n}\n"
        )
        self.assert_found(r"sat/cnf.hpp:\d+: no /// above: struct Planted")
        self.assert_found(r"sat/cnf.hpp:\d+: no /// above: int planted")

    def test_reading_of_declarations(self):
        sound = (
            "namespace a {\nclass Later;\n/// Two.\nint f(int x,\n      int y);\nint g();\n\n"
            "/// A.\ntemplate <class T>\nstruct B {\n"
            "  int undocumented;\n};\n\nnamespace detail {\nint hidden();\n}\n}  // namespace a\n"
        )
        self.assertEqual(undocumented(sound), [])
        self.assertEqual(undocumented("/// f.\nint f();\n\nint g();\n"), [(4, "int g();")])
        self.assertEqual(undocumented("// not a doc comment\nint f();\n"), [(2, "int f();")])

    def test_unknown_error_kind(self):
        self.append("sat/cnf.hpp", "\n// throws Error(bad_luck)\n")
        self.assert_found(r"Error\(bad_luck\): no such kind")

    # transcripts
    def command(self, body):
        self.write("bin/subquad", f"#!/bin/sh\n{body}\n")
        program = self.root / "bin/subquad"
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return program

    def transcript(self, text):
        for path in self.root.rglob("*.md"):
            path.write_text(re.sub(r"^```console$", "```text", path.read_text(), flags=re.M))
        self.append("docs/notation.md", f"\n```console\n{text}```\n")

    def test_transcript_that_is_true(self):
        program = self.command("echo 'took 0.731 s'; echo 's SATISFIABLE'; exit 10")
        self.transcript("$ subquad chain\ntook 12 ms\n...\ns SATISFIABLE\n$ echo $?\n10\n")
        self.assertEqual(self.fresh(program), [])

    def test_transcript_that_is_false(self):
        program = self.command("echo 's UNSATISFIABLE'; exit 20")
        self.transcript("$ subquad chain\ns SATISFIABLE\n$ echo $?\n10\n")
        self.assert_found(r"the page has 's SATISFIABLE', the command prints 's UNSATISFIABLE'", program)
        self.assert_found(r"the page has 10, the status is 20", program)

    def test_transcript_that_is_cut_off(self):
        program = self.command("echo one; echo two")
        self.transcript("$ subquad chain\none\n")
        self.assert_found(r"the page has 1 lines, the command prints 2", program)

    def test_masks_hide_measurements_only(self):
        self.assertEqual(masked("took 0.5 s,  n = 32"), masked("took 12 ms, n =  32"))
        self.assertNotEqual(masked("32 vectors"), masked("33 vectors"))
        self.assertTrue(matches(["a", "...", "z"], ["a", "b", "z"]))
        self.assertFalse(matches(["a", "...", "z"], ["a", "b"]))


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Malformed and hostile files: one clear line with the file and line, status 2, nothing on stdout, no output file.

Each folder of tests/data/bad has expected.tsv: file, line (or -), part of the message. The folder's name says what reads it.
"""

import sys

sys.dont_write_bytecode = True

from subquad_command import BAD_USAGE, ROOT, CommandTest, main  # noqa: E402

BAD = ROOT / "tests" / "data" / "bad"


def commands(folder, path):
    """What is run on a file of this folder, with the output that must not appear."""
    if folder == "dimacs":
        return [["chain", path], ["solve", "cnf", path, "-o", "out"], ["reduce", "cnf", "ov", path, "-o", "out"]]
    if folder == "npy":
        return [["verify", "attention", path, path, path, path, "--tolerance", "1"]]
    if folder == "anna_weights":
        return [["verify", "anna", path, path, path], ["verify", "anna", path, path, path, path, path]]
    return [["solve", folder.replace("_", "-"), path, "-o", "out"]]


class BadInput(CommandTest):
    def test_every_file(self):
        cases = 0
        for table in sorted(BAD.glob("*/expected.tsv")):
            folder = table.parent
            for row in table.read_text().splitlines():
                if not row or row.startswith("#"):
                    continue
                name, line, part = row.split("\t")
                cases += 1
                path = folder / name
                for command in commands(folder.name, path):
                    with self.subTest(file=f"{folder.name}/{name}", verb=command[0]):
                        result = self.expect_error(BAD_USAGE, part, *command)
                        if line != "-":
                            self.assertTrue(result.err.startswith(f"{path}:{line}: "), result.err)
                        self.assertNotIn("internal", result.err)
                        self.assertTrue(all(ch == "\n" or ch.isprintable() for ch in result.err), repr(result.err))
        self.assertGreaterEqual(cases, 40)

    def test_every_file_is_in_its_table(self):
        for folder in (f for f in BAD.iterdir() if f.is_dir()):
            listed = {row.split("\t")[0] for row in (folder / "expected.tsv").read_text().splitlines() if row and not row.startswith("#")}
            self.assertEqual({f.name for f in folder.iterdir()} - {"expected.tsv", "README.md", ".gitattributes"}, listed)

    def test_the_same_from_standard_input(self):
        text = (BAD / "dimacs" / "variable-above-header.cnf").read_bytes()
        result = self.expect_error(BAD_USAGE, "out of range", "chain", "-", stdin=text)
        self.assertTrue(result.err.startswith("standard input:3: "), result.err)

    def test_answers(self):
        self.write("f.cnf", "p cnf 2 1\n1 2 0\n")
        for text, part in [("", ""), ("v 1 2 0\n", ""), ("s MAYBE\n", "MAYBE"), ("s SATISFIABLE\nv 1 -1 0\n", ""),
                           ("s SATISFIABLE\nv 1 x 0\n", "x"), ("\0", "NUL")]:
            with self.subTest(text=text):
                self.expect_error(BAD_USAGE, part, "verify", "cnf", "f.cnf", "-", stdin=text)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Wrong usage, help, and the conventions of all verbs."""

import os
import signal
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True

from subquad_command import BAD_USAGE, DONE, RESOURCE_GUARD, SATISFIABLE_CNF, SUBQUAD, CommandTest, main  # noqa: E402

VERBS = ("chain", "solve", "reduce", "lift", "graph", "verify", "gen", "info")


class Usage(CommandTest):
    def test_overview_lists_every_verb_with_an_example(self):
        text = self.expect(DONE, "--help").out
        for verb in VERBS:
            self.assertRegex(text, rf"(?m)^  {verb} +\w")
            self.assertIn(f"$ subquad {verb} ", text + " ")

    def test_no_verb_prints_the_overview_and_is_an_error(self):
        self.assertIn("Usage: subquad VERB", self.expect(BAD_USAGE).out)

    def test_version(self):
        self.assertRegex(self.expect(DONE, "--version").out, r"^subquad \d+\.\d+\.\d+\n$")

    def test_help_of_every_verb_shows_exits_and_two_examples(self):
        for verb in VERBS:
            text = self.expect(DONE, verb, "--help").out
            self.assertIn("Exit status:", text, verb)
            self.assertEqual(text.split("Examples:")[1].count(f"subquad {verb}"), 2, verb)

    def test_help_of_every_generator(self):
        for kind in ("cnf", "ov", "gap-ann", "attention"):
            text = self.expect(DONE, "gen", kind, "--help").out
            families = [line.split()[0] for line in text.split("Subcommands:")[1].split("\n\n")[0].splitlines() if line.strip()]
            self.assertGreaterEqual(len(families), 2, kind)
            for family in families:
                self.assertIn("Usage: subquad gen " + kind + " " + family, self.expect(DONE, "gen", kind, family, "--help").out)

    def test_did_you_mean(self):
        for arguments, suggestion in [
            (["chian"], "'chain'"),
            (["--versoin"], "--version"),
            (["chain", "f.cnf", "--kernle", "exact"], "'--kernel'"),
            (["chain", "f.cnf", "--kernel", "exact-f23"], "'exact-f32'"),
            (["gen", "cnf", "unifrom", "-n", "3"], "'uniform'"),
            (["gen", "vo"], "'ov'"),
            (["gen", "cnf", "uniform", "-n", "3", "--raito", "2"], "'--ratio'"),
            (["solve", "gap-an", "f"], "'gap-ann'"),
            (["reduce", "cnf", "attentoin", "f", "-o", "g"], "'attention'"),
            (["reduce", "cnf", "ov", "f", "-o", "g", "--through", "cnf_to_vo"], "'cnf_to_ov'"),
            (["reduce", "cnf", "ov", "f", "-o", "g", "--param", "left_variable=1"], "'left_variables'"),
            (["graph", "--from", "cfn", "--to", "ov"], "'cnf'"),
        ]:
            with self.subTest(arguments=arguments):
                self.expect_error(BAD_USAGE, suggestion, *arguments)

    def test_numbers_are_read_strictly(self):
        self.write("f.cnf", SATISFIABLE_CNF)
        for option in ("--seed=-1", "--seed=010", "--seed=1e3", "--seed=99999999999999999999", "--left-variables=-1", "--alpha=nan",
                       "--alpha=3", "--threads=-1", "--threads=100000"):
            with self.subTest(option=option):
                self.expect_error(BAD_USAGE, option.split("=")[0], "chain", "f.cnf", option)

    def test_every_verb_accepts_the_shared_options(self):
        for verb in VERBS:
            with self.subTest(verb=verb):
                shared = ["--quiet", "--seed", "0", "--threads", "1", "--dry-run", "--force"]
                self.assertIn("Exit status", self.expect(DONE, verb, *shared, "--help").out)

    def test_missing_files_and_folders(self):
        for arguments in (["chain", "{}"], ["solve", "ov", "{}"], ["reduce", "cnf", "ov", "{}", "-o", "x"], ["verify", "cnf", "{}", "y"],
                          ["lift", "cnf", "ov", "{}", "y"], ["verify", "attention", "{}", "k", "v", "o", "--tolerance", "1"]):
            with self.subTest(arguments=arguments):
                self.expect_error(BAD_USAGE, "nothing.here: cannot be read", *[a.format("nothing.here") for a in arguments])
                self.expect_error(BAD_USAGE, "is a folder", *[a.format(self.folder) for a in arguments])

    def test_output_into_a_missing_folder(self):
        self.write("f.cnf", SATISFIABLE_CNF)
        self.expect_error(BAD_USAGE, "cannot be written", "reduce", "cnf", "ov", "f.cnf", "-o", "no/such/folder", "--quiet")

    def test_json_and_data_on_one_stream_are_refused(self):
        self.write("f.cnf", SATISFIABLE_CNF)
        self.expect_error(BAD_USAGE, "standard output", "reduce", "cnf", "ov", "f.cnf", "-o", "-", "--json")

    def test_closed_stdout_is_no_crash(self):
        command = [SUBQUAD, "gen", "ov", "iid", "-n", "4000", "-d", "64", "-o", "-", "--quiet"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.read(100)
        process.stdout.close()
        error = process.stderr.read().decode()
        process.stderr.close()
        self.assertEqual((process.wait(timeout=60), error), (DONE, ""))

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs /dev/full")
    def test_a_full_disk_is_reported(self):
        self.write("f.cnf", SATISFIABLE_CNF)
        for arguments in (["--version"], ["reduce", "cnf", "ov", "f.cnf", "-o", "-", "--quiet"], ["chain", "f.cnf", "--quiet"]):
            with open("/dev/full", "wb") as full, self.subTest(arguments=arguments):
                done = subprocess.run([SUBQUAD, *arguments], stdout=full, stderr=subprocess.PIPE, cwd=self.folder, check=False)
                self.assertEqual(done.returncode, RESOURCE_GUARD)
                self.assertIn(b"writing failed", done.stderr)

    def test_no_signal_from_a_pipe(self):
        self.write("f.cnf", SATISFIABLE_CNF)
        read_end, write_end = os.pipe()
        os.close(read_end)
        done = subprocess.run([SUBQUAD, "chain", "f.cnf", "--quiet"], stdout=write_end, cwd=self.folder, check=False)
        os.close(write_end)
        self.assertNotEqual(done.returncode, -signal.SIGPIPE)
        self.assertEqual(done.returncode, 10)


if __name__ == "__main__":
    main()

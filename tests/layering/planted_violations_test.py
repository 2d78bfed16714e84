#!/usr/bin/env python3
"""Negative tests of check_layering.py: each violation is planted into a copy of the checkout and must be reported."""

import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True

from check_layering import check  # noqa: E402
from rules.tree import SOURCE_FOLDERS  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]


class PlantedViolations(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="subquad-layering-")
        cls.clean = Path(cls.folder.name) / "clean"
        cls.clean.mkdir()
        for folder in sorted({f.split("/")[0] for f in SOURCE_FOLDERS} | {"cmake", "docs"}):
            if (ROOT / folder).exists():
                shutil.copytree(ROOT / folder, cls.clean / folder)
        for name in ("CMakeLists.txt", "dev"):
            shutil.copy(ROOT / name, cls.clean / name)
        cls.before = set(check(cls.clean))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def setUp(self):
        self.root = Path(self.folder.name) / "planted"
        shutil.copytree(self.clean, self.root)

    def tearDown(self):
        shutil.rmtree(self.root)

    def append(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        old = file.read_text() if file.exists() else ""
        file.write_text(old + text)

    def replace(self, path, old, new):
        file = self.root / path
        text = file.read_text()
        self.assertIn(old, text, f"{path} has changed: this plant no longer applies")
        file.write_text(text.replace(old, new))

    def list_header(self, room_folder, header):
        path = f"{room_folder}/CMakeLists.txt"
        text = re.sub(r"\bHEADERS\b", f"HEADERS {header}", (self.root / path).read_text(), count=1)
        self.assertIn(header, text)
        (self.root / path).write_text(text)
        self.append(f"{room_folder}/{header}", "// Planted.\n#pragma once\n")

    def assert_caught(self, pattern):
        fresh = [v for v in check(self.root) if v not in self.before]
        self.assertTrue(any(re.search(pattern, v) for v in fresh), f"nothing like {pattern!r} in {fresh}")

    def test_untouched_copy_has_nothing_new(self):
        self.assertEqual([v for v in check(self.root) if v not in self.before], [])

    # includes.libraries
    def test_library_outside_its_place(self):
        for path, include, title in [
            ("sat/cnf.cpp", "mpi.h", "MPI"),
            ("lib/core/count.cpp", "cuda_runtime.h", "CUDA"),
            ("sat/cnf.cpp", "cadical.hpp", "CaDiCaL"),
            ("lib/core/digest.cpp", "hwy/highway.h", "Highway"),
            ("sat/dimacs.cpp", "CLI/CLI.hpp", "CLI11"),
            ("lib/core/error.cpp", "gtest/gtest.h", "GoogleTest"),
            ("lib/core/error.cpp", "nlohmann/json.hpp", "nlohmann"),
            ("lib/core/count.cpp", "Eigen/Core", "Eigen"),
            ("reductions/registry.cpp", "mpfr.h", "MPFR"),
        ]:
            with self.subTest(include=include):
                self.append(path, f"\n#include <{include}>\n")
                self.assert_caught(rf"{path}:\d+: <{include}>: {title}")

    def test_library_in_public_header(self):
        self.append("sat/cnf.hpp", "\n#include <cadical.hpp>\n")
        self.assert_caught(r"sat/cnf.hpp:\d+: <cadical.hpp>: a public header must not name CaDiCaL")

    def test_unknown_library(self):
        self.append("sat/cnf.cpp", "\n#include <left/pad.h>\n")
        self.assert_caught(r"<left/pad.h>: unknown library")

    # includes.rooms
    def test_reductions_include_attention(self):
        self.append("reductions/registry.cpp", "\n#include <subquad/attention/kernel.hpp>\n")
        self.assert_caught(r"room reductions must not include attention")

    def test_verifiers_include_what_produces_answers(self):
        self.append("verifiers/sat_model.cpp", "\n#include <subquad/reductions/registry.hpp>\n")
        self.assert_caught(r"room verifiers must not include reductions")

    def test_verifier_test_includes_a_kernel(self):
        self.append("tests/verifiers/planted_test.cpp", "#include <subquad/attention/kernel.hpp>\n")
        self.assert_caught(r"tests/verifiers must not include attention")

    def test_core_includes_a_higher_room(self):
        self.append("lib/core/error.hpp", "\n#include <subquad/problems/attention.hpp>\n")
        self.assert_caught(r"room core must not include problems")

    def test_cmake_dependency(self):
        self.replace("verifiers/CMakeLists.txt", "subquad::sat", "subquad::sat subquad::attention")
        self.assert_caught(r"room verifiers must not depend on attention")

    def test_private_header_of_another_room(self):
        self.append("lib/exact/secret.hpp", "// Secret.\n#pragma once\n")
        self.append("reductions/registry.cpp", "\n#include <subquad/exact/secret.hpp>\n")
        self.assert_caught(r"<subquad/exact/secret.hpp>: no room lists this header")

    def test_quoted_include_of_another_folder(self):
        self.append("reductions/registry.cpp", '\n#include "../lib/attention/kernel.hpp"\n')
        self.assert_caught(r"quoted includes name a file of the same folder")

    # registries
    def test_reduction_without_registry_test_page_and_ledger(self):
        self.append("reductions/planted_to_nothing.hpp", "// Planted.\n#pragma once\n")
        for pattern in (
            r"planted_to_nothing.cpp is missing",
            r"planted_to_nothing_test.cpp is missing",
            r"docs/reductions/planted_to_nothing.md is missing",
            r"does not register PlantedToNothing",
            r"no entry with header reductions/planted_to_nothing.hpp",
        ):
            self.assert_caught(pattern)

    def test_reduction_included_but_not_registered(self):
        self.append("reductions/planted_to_nothing.hpp", "// Planted.\n#pragma once\n")
        self.append("reductions/registry.cpp", "\n#include <subquad/reductions/planted_to_nothing.hpp>\n")
        self.assert_caught(r"does not register PlantedToNothing")

    def test_page_without_reduction(self):
        self.append("docs/reductions/ghost_to_host.md", "# Ghost\n")
        self.assert_caught(r"reduction ghost_to_host: reductions/ghost_to_host.hpp is missing")

    def test_ledger_entry_without_reduction(self):
        self.append("docs/theorems.yaml", "\n- id: GHOST\n  header: reductions/ghost_to_host.hpp\n")
        self.assert_caught(r"reduction ghost_to_host: reductions/ghost_to_host.cpp is missing")

    def test_problem_without_company(self):
        self.list_header("lib/problems", "planted_problem.hpp")
        self.append("lib/problems/planted_problem.hpp", 'static constexpr std::string_view kId = "planted";\n')
        self.assert_caught(r"problem planted_problem: tests/problems/planted_problem_test.cpp is missing")
        self.assert_caught(r"problem planted_problem: docs/problems.md does not name it")

    def test_kernel_without_company(self):
        self.list_header("lib/attention", "planted_kernel.hpp")
        self.assert_caught(r"kernel planted_kernel: docs/kernels/planted_kernel.md is missing")
        self.assert_caught(r"kernel planted_kernel: lib/attention/kernel.cpp does not register it")

    def test_verifier_without_company(self):
        self.list_header("verifiers", "planted_proof.hpp")
        self.assert_caught(r"verifier planted_proof: verifiers/planted_proof.cpp is missing")
        self.assert_caught(r"verifier planted_proof: docs/verifiers.md does not name it")
        self.assert_caught(r"verifiers/README.md: does not name planted_proof.hpp")

    # conventions
    def test_long_file(self):
        self.append("sat/planted.cpp", "\n" * 401)
        self.assert_caught(r"sat/planted.cpp: 401 lines")

    def test_wide_line(self):
        self.append("sat/planted.cpp", "// " + "wide " * 30 + "\n")
        self.assert_caught(r"sat/planted.cpp:1: \d+ columns")

    def test_vague_names(self):
        for stem in ("math_utils", "test_helper", "misc", "fast_softmax", "common"):
            with self.subTest(stem=stem):
                self.append(f"lib/core/{stem}.cpp", "\n")
                self.assert_caught(rf"lib/core/{stem}.cpp: '\w+' in a file name")

    def test_header_without_guard_title_or_with_using_directive(self):
        self.append("sat/planted.hpp", "int x;\n  using namespace std;\n")
        self.assert_caught(r"sat/planted.hpp: no #pragma once")
        self.assert_caught(r"sat/planted.hpp:1: a header opens with a comment")
        self.assert_caught(r"sat/planted.hpp:2: using-directive")

    def test_comparisons_that_nan_passes(self):
        self.append(
            "tests/core/planted_test.cpp", "worst = std::max(worst, error);\nEXPECT_FALSE(error > tolerance);\n"
        )
        self.assert_caught(r"planted_test.cpp:1: std::max on errors")
        self.assert_caught(r"planted_test.cpp:2: .*accepts NaN")


if __name__ == "__main__":
    unittest.main()

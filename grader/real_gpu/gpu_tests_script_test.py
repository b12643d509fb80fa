"""`scripts/gpu_tests`: what it makes of ctest's results, and what it packs."""

import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
LOADER = importlib.machinery.SourceFileLoader("gpu_tests", str(ROOT / "scripts" / "gpu_tests"))
gpu_tests = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_tests", LOADER))
LOADER.exec_module(gpu_tests)

PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(three_tests NONE)
enable_testing()
add_test(NAME works COMMAND true)
add_test(NAME fails COMMAND false)
add_test(NAME needs_a_gpu COMMAND sh -c "exit 77")
add_test(NAME of_no_gpu COMMAND false)
set_tests_properties(works fails needs_a_gpu PROPERTIES LABELS gpu SKIP_RETURN_CODE 77)
"""


class ResultsTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.build = pathlib.Path(self.scratch.name) / "build"
        (pathlib.Path(self.scratch.name) / "CMakeLists.txt").write_text(PROJECT)
        subprocess.run(["cmake", "-S", self.scratch.name, "-B", self.build], check=True, capture_output=True)

    def tearDown(self):
        self.scratch.cleanup()

    def passes(self, only):
        return gpu_tests.run_tests(self.build, self.build, only)

    def test_are_good_when_every_test_ran_and_passed(self):
        self.assertTrue(self.passes("works"))

    def test_are_not_good_when_one_failed_or_was_skipped_or_there_was_none(self):
        self.assertFalse(self.passes("works|fails"))
        self.assertFalse(self.passes("works|needs_a_gpu"))
        self.assertFalse(self.passes(None))
        self.assertEqual(gpu_tests.outcomes(self.build / "junit.xml"),
                         {"works": "passed", "fails": "failed", "needs_a_gpu": "skipped"})
        self.assertFalse(self.passes("of_no_gpu"))


class PackTest(unittest.TestCase):
    def test_takes_every_library_that_a_build_would_download(self):
        text = gpu_tests.DEPENDENCIES.read_text()
        found = gpu_tests.FETCHED.findall(text)
        self.assertEqual(len(found), text.count("  rooflab_fetch("))
        self.assertLessEqual(set(gpu_tests.LEFT_OUT), {name for name, _, _ in found})


if __name__ == "__main__":
    unittest.main()

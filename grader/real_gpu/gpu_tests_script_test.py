"""`scripts/gpu_tests`: what it makes of ctest's results, and what it packs."""

import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest
import unittest.mock

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

    def packed(self, bytes_each):
        """What is in an archive of libraries that are so large, or the refusal."""
        def fetch(name, _address, _commit, folder):
            folder.mkdir(parents=True)
            (folder / f"{name}.c").write_bytes(os.urandom(bytes_each))
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.multiple(
                gpu_tests, fetch_source=fetch, tracked_files=lambda: ["scripts/gpu_tests"], MOST_BYTES=1 << 20):
            archive = pathlib.Path(folder) / "pack.tar.xz"
            try:
                gpu_tests.pack(archive)
            except SystemExit as refusal:
                return str(refusal), list(pathlib.Path(folder).iterdir())
            with tarfile.open(archive) as packed:
                return set(packed.getnames()), [path.name for path in pathlib.Path(folder).iterdir()]

    def test_puts_libraries_where_a_build_looks_for_them(self):
        names, files = self.packed(100)
        self.assertLessEqual({"rooflab/scripts/gpu_tests", "rooflab/third_party/fmt/fmt.c",
                              "rooflab/third_party/openblas/openblas.c"}, names)
        self.assertEqual(files, ["pack.tar.xz"])

    def test_leaves_nothing_of_an_archive_that_is_too_large_to_send(self):
        refusal, files = self.packed(1 << 20)
        self.assertIn("more than 1", refusal)
        self.assertEqual(files, [])


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""The student's own folder of a wheel: made once, brought up to date, and never at the cost of a file of the student's."""

import contextlib
import io
import os
import pathlib
import sys
import tarfile
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from rooflab import own_folder
from rooflab.command import grades
from rooflab.errors import RooflabError

SETUP_COMMON = '''needs_cuda_wheels() { true; }
install_cuda_wheels() { mkdir -p .cuda/bin; printf '#!/bin/sh\\n' > .cuda/bin/nvcc; chmod +x .cuda/bin/nvcc; }
'''


def kit_of(file, **texts):
    """An archive with rooflab/NAME for each name, where __ stands for /."""
    texts = {"labs__course.toml": "", "scripts__setup_common": SETUP_COMMON, **texts}
    with tarfile.open(file, "w:gz") as archive:
        for name, text in texts.items():
            entry = tarfile.TarInfo("rooflab/" + name.replace("__", "/"))
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return file


class OwnFolderTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.here = pathlib.Path(holder.name).resolve() / "my work"
        self.here.mkdir()
        self.kit = kit_of(self.here.parent / "kit.tar.gz", README="first", gone="old")
        before = own_folder.KIT
        own_folder.KIT = self.kit
        self.addCleanup(setattr, own_folder, "KIT", before)
        named = os.environ.pop("ROOFLAB_ROOT", None)
        if named:
            self.addCleanup(os.environ.__setitem__, "ROOFLAB_ROOT", named)

    def own(self, here=None):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            return own_folder.own_folder(here or self.here), said.getvalue()

    def test_is_made_once_and_found_from_within(self):
        folder, said = self.own()
        self.assertEqual(folder, self.here / "rooflab")
        self.assertIn("is your folder now", said)
        self.assertEqual((folder / "README").read_text(), "first")
        (folder / "starter/part0").mkdir(parents=True)
        self.assertEqual(self.own(folder / "starter/part0"), (folder, ""))
        self.assertEqual(self.own(), (folder, ""))
        self.assertEqual([path.name for path in self.here.iterdir()], ["rooflab"])

    def test_is_made_by_a_python_whose_tarfile_has_no_filters(self):
        with mock.patch.object(tarfile, "data_filter"):
            del tarfile.data_filter
            self.assertEqual((self.own()[0] / "README").read_text(), "first")

    def test_is_brought_up_to_date_by_another_wheel_alone(self):
        folder, _ = self.own()
        (folder / "starter").mkdir()
        (folder / "starter/mine.cu").write_text("mine")
        (folder / "README").write_text("changed here")
        self.assertEqual(self.own(), (folder, ""))
        self.assertEqual((folder / "README").read_text(), "changed here")
        kit_of(self.kit, README="second", added__page="new")
        self.assertIn("is brought up to date", self.own()[1])
        self.assertEqual((folder / "README").read_text(), "second")
        self.assertEqual((folder / "added/page").read_text(), "new")
        self.assertEqual((folder / "starter/mine.cu").read_text(), "mine")
        self.assertEqual(self.own(), (folder, ""))

    def test_leaves_a_kit_alone_that_no_wheel_made(self):
        folder = self.here / "rooflab"
        (folder / "labs").mkdir(parents=True)
        (folder / "labs/course.toml").write_text("")
        (folder / "README").write_text("another kit")
        self.assertEqual(self.own(), (folder, ""))
        self.assertEqual((folder / "README").read_text(), "another kit")

    def test_refuses_what_is_in_the_way_and_half_an_archive(self):
        (self.here / "rooflab").write_text("mine")
        with self.assertRaisesRegex(RooflabError, "is no kit of Rooflab"):
            self.own()
        (self.here / "rooflab").unlink()
        self.kit.write_bytes(self.kit.read_bytes()[:60])
        with self.assertRaisesRegex(RooflabError, "install the wheel again"):
            self.own()
        self.assertEqual(list(self.here.iterdir()), [])

    def test_without_a_kit_says_where_to_start(self):
        own_folder.KIT = self.here / "none"
        with self.assertRaisesRegex(RooflabError, "start in one, or set ROOFLAB_ROOT"):
            self.own()

    def test_gets_the_compiler_by_the_kits_own_lines_where_there_is_none(self):
        folder, _ = self.own()
        before = own_folder.find_nvcc
        self.addCleanup(setattr, own_folder, "find_nvcc", before)

        def none(course):
            raise RooflabError("none")
        own_folder.find_nvcc = none
        own_folder.get_nvcc(folder)
        self.assertTrue(os.access(folder / ".cuda/bin/nvcc", os.X_OK))

    def test_only_a_grade_needs_a_compiler(self):
        self.assertTrue(grades(["--part", "0"]))
        self.assertTrue(grades(["--task=gemv"]))
        self.assertFalse(grades(["--part", "0", "--list"]))
        self.assertFalse(grades(["explain", "RL0301"]))
        self.assertFalse(grades([]))


if __name__ == "__main__":
    unittest.main()

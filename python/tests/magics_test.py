#!/usr/bin/env python3
"""The magics as a notebook uses them, with programs that say anything. Exits 77, which ctest takes for "skipped", without IPython."""

import html.parser
import os
import pathlib
import random
import sys
import unicodedata
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

try:
    from IPython.core.error import UsageError
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output
except ImportError:
    print("skipped: IPython is not here; scripts/setup --with-notebooks installs it")
    sys.exit(77)

from fake_course import FakeCourse, diagnostic, finding, grade, kernel, report, site

EVIL = "</pre><script>alert(1)</script><img src=x onerror='a'>\"'&\x1b]0;t\x07\x9b\u202e\u2028\x00 {{x}} $x$"
TAGS = {"pre", "table", "caption", "thead", "tbody", "tr", "th", "td", "iframe", "svg", "line", "text", "circle", "polyline"}


class Tags(html.parser.HTMLParser):
    """The tags of a page and their attributes."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


class NotebookTest(unittest.TestCase):
    def setUp(self):
        self.course = FakeCourse()
        self.addCleanup(self.course.close)
        self.shell = InteractiveShell.instance()
        with capture_output():  # it may be loaded
            self.shell.run_line_magic("load_ext", "rooflab")

    def shown(self, magic, line, cell=None):
        """What a cell shows: its streams and displays."""
        with capture_output() as captured:
            if cell is None:
                self.shell.run_line_magic(magic, line)
            else:
                self.shell.run_cell_magic(magic, line, cell)
        return captured

    def texts(self, captured):
        return captured.stdout + "".join(one.data["text/plain"] + "\n" for one in captured.outputs)

    def markup(self, captured):
        return "".join(one.data.get("text/html", "") for one in captured.outputs)

    def fails(self, words, magic, line, cell=None):
        with self.assertRaises(UsageError) as caught:
            self.shown(magic, line, cell)
        self.assertIn(words, str(caught.exception))

    def assert_harmless(self, captured):
        for letter in self.texts(captured):
            control = unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") and letter not in "\n\t"
            self.assertFalse(control, f"U+{ord(letter):04X} reaches a terminal")
        for tag, attributes in Tags(self.markup(captured)).found:
            self.assertIn(tag, TAGS)
            self.assertFalse([name for name in attributes if name.startswith("on") or name in ("href", "src")], tag)


class CudaCellTest(NotebookTest):
    def test_shows_output_findings_with_the_lines_of_the_cell_and_a_table_of_kernels(self):
        self.course.says(b"hello\n", b"mine\nerror[RL0302]: story\nsimgpu: 1 finding\n", 86,
                         report=report([finding()], [kernel("k", 10), kernel("k", 20), kernel("other", 5)]))
        captured = self.shown("cuda", "", "int a;\nint b;\n")
        text = self.texts(captured)
        self.assertIn("hello\n", captured.stdout)
        self.assertIn("error[RL0302]: A thread reads too early", text)
        self.assertIn("line 3 of this cell: thread (63,0), warp 1 of block (0,0) reads 4 bytes\n    3 | int b;", text)
        self.assertIn("line 2 of this cell: thread (63,0), warp 1 of block (0,0) writes 4 bytes\n    2 | int a;", text)
        self.assertIn("k       2         (4,1)  (256,1)  20 us, 8 to 12       DRAM traffic", text)
        self.assertIn("mine\n", text)
        self.assertNotIn("story", text)
        self.assertNotIn("exit code", text)
        self.assertEqual((self.course.said / "source.cu").read_text(), "\nint a;\nint b;\n")

    def test_passes_on_what_was_asked(self):
        self.course.says(report=report())
        self.shown("cuda", "--no-checkers", "int a;")
        words = self.course.words_of("simgpu")
        self.assertEqual(words[words.index("--check") + 1], "none")
        self.assertEqual(words[words.index("--gpu") + 1], "a100")

    def test_shows_the_compilers_messages_and_runs_nothing_that_does_not_compile(self):
        (self.course.said / "broken").write_text("")
        (self.course.said / "compiler").write_text("cell.cu(2): error: " + EVIL)
        captured = self.shown("cuda", "", "int a")
        self.assertIn("cell.cu(2): error: ", self.texts(captured))
        self.assertFalse((self.course.said / "simgpu.words").exists())
        self.assert_harmless(captured)

    def test_lets_nothing_act_that_a_program_says(self):
        page = f"<!doctype html><script>top.x</script>{EVIL}"
        (self.course.said / "page.html").write_text(page, encoding="utf-8")
        evil = finding(EVIL, EVIL, object=EVIL, other=site(EVIL, 4, EVIL), also=[{"file": EVIL, "line": 2, "text": EVIL}])
        self.course.says(EVIL.encode() + b"\xff\xfe\n", EVIL.encode(), 3, report=report([evil], [kernel(EVIL)]))
        captured = self.shown("cuda", "--explore --roofline", EVIL)
        self.assert_harmless(captured)
        frames = [attributes for tag, attributes in Tags(self.markup(captured)).found if tag == "iframe"]
        self.assertEqual([frame["sandbox"] for frame in frames], ["allow-scripts"])
        self.assertEqual(frames[0]["srcdoc"], page)

    def test_lets_nothing_act_whatever_the_bytes_are(self):
        random.seed(7)
        alphabet = EVIL + "\n\t\r<>&\"'`${}\\/=" + "".join(map(chr, (0x85, 0xAD, 0x200F, 0xFEFF, 0xFFFF, 0x10FFFF)))
        for _ in range(20):
            noise = "".join(random.choice(alphabet) for _ in range(60))
            evil = finding(noise, noise, other=site(noise, 4, noise))
            self.course.says(noise.encode() + random.randbytes(20), noise.encode(), 86, report=report([evil], [kernel(noise)]))
            self.assert_harmless(self.shown("cuda", "--roofline", noise))

    def test_ends_a_program_that_does_not_end_and_cuts_one_that_prints_without_end(self):
        self.course.program("build/bin/simgpu", "#!/bin/sh\nyes & sleep 60\n")
        text = self.texts(self.shown("cuda", "--timeout 2", "int a;"))
        self.assertIn("was stopped after 2 s", text)
        self.assertIn("bytes more)", text)
        self.assertLess(len(text), 1 << 20)

    def test_runs_a_program_by_itself_where_there_is_a_gpu(self):
        from rooflab import cuda_cell
        before, cuda_cell.GPU_FILE = cuda_cell.GPU_FILE, "/dev/null"
        self.addCleanup(setattr, cuda_cell, "GPU_FILE", before)
        self.assertIn("on the GPU\n", self.texts(self.shown("cuda", "--device cuda", "int a;")))
        self.assertIn("-arch=native", self.course.words_of("nvcc"))
        self.assertFalse((self.course.said / "simgpu.words").exists())
        self.fails("leave out --device cuda", "cuda", "--device cuda --roofline", "int a;")

    def test_shows_kernels_under_the_roof(self):
        self.course.says(report=report([], [kernel("fma_kernel")]))
        captured = self.shown("cuda", "--roofline", "int a;")
        self.assertIn("fma_kernel: 0.167 FLOP/B, 0.2 GFLOP/s, 0 % of the roof, which is memory's", self.texts(captured))
        self.assertIn("<svg role=\"img\"", self.markup(captured))

    def test_says_what_to_do_about_a_wrong_line_or_a_missing_program(self):
        self.fails("there is no GPU 'q'; there are: a100", "cuda", "--gpu q", "int a;")
        self.fails("unrecognized arguments: --nonsense", "cuda", "--nonsense", "int a;")
        self.fails("leave out --no-checkers", "cuda", "--explore --no-checkers", "int a;")
        self.fails("--timeout", "cuda", "--timeout -1", "int a;")
        if not os.path.exists("/dev/nvidiactl"):
            self.fails("no NVIDIA GPU here", "cuda", "--device cuda", "int a;")
        self.course.says(b"", b"simgpu: the device is away\n", 3)
        self.fails("the device is away", "cuda", "", "int a;")
        os.environ["ROOFLAB_NVCC"] = ""
        path, os.environ["PATH"] = os.environ["PATH"], str(self.course.root)
        try:
            if not os.path.exists("/usr/local/cuda/bin/nvcc"):
                self.fails("there is no nvcc", "cuda", "", "int a;")
        finally:
            os.environ["PATH"] = path
        (self.course.root / "build/bin/grader").unlink()
        self.fails("run scripts/setup", "cuda", "", "int a;")
        os.environ["ROOFLAB_ROOT"] = str(self.course.root / "starter")
        self.fails("neither a kit nor a checkout", "cuda", "", "int a;")


class GradeCellTest(NotebookTest):
    def setUp(self):
        super().setUp()
        self.file = self.course.root / "starter/part1-fakes/gemv.cu"

    def kept(self):
        return {file.name: file.read_text() for file in self.file.parent.iterdir() if ".orig" in file.name}

    def test_writes_the_cell_and_shows_score_diagnoses_and_report(self):
        self.course.says(code=1, grade=grade(output="printed\n"))
        captured = self.shown("rooflab", "1 gemv", "x = y;\n")
        self.assertEqual(self.file.read_text(), "x = y;\n")
        text = self.texts(captured)
        self.assertIn("Part 1, gemv: 0 of 15 points, race", text)
        self.assertIn("error[RL0302] `partial` is read too early\n  gemv.cu:1 (line 2 of this cell): thread 0 reads", text)
        self.assertIn("printed\n", captured.stdout)
        frames = [attributes for tag, attributes in Tags(self.markup(captured)).found if tag == "iframe"]
        self.assertEqual([frame["sandbox"] for frame in frames], [""])
        words = self.course.words_of("grader")
        self.assertEqual(words[:2], ["--part", "1"])
        self.assertNotIn("--submission", words)

    def test_works_in_the_folder_that_is_named(self):
        mine = self.course.root / "mine"
        os.environ["ROOFLAB_SUBMISSION"] = str(mine)
        self.course.says(code=1, grade=grade())
        self.shown("rooflab", "1 gemv", "x = y;\n")
        self.assertEqual((mine / "part1-fakes/gemv.cu").read_text(), "x = y;\n")
        self.assertEqual(self.file.read_text(), "// TODO\n")
        words = self.course.words_of("grader")
        self.assertEqual(words[words.index("--submission") + 1], str(mine))

    def test_keeps_what_a_cell_did_not_write(self):
        self.course.says(code=1, grade=grade())
        self.shown("rooflab", "1 gemv", "first\n")
        self.shown("rooflab", "1 gemv", "second\n")
        self.assertEqual(self.kept(), {"gemv.cu.orig": "// TODO\n"})
        self.file.write_text("in an editor\n")
        self.assertIn("is in gemv.cu.orig2", self.texts(self.shown("rooflab", "1 gemv", "third\n")))
        self.assertEqual(self.kept(), {"gemv.cu.orig": "// TODO\n", "gemv.cu.orig2": "in an editor\n"})
        self.shown("rooflab", "1 gemv", "third\n")
        self.assertEqual(len(self.kept()), 2)

    def test_changes_nothing_that_is_a_link_and_no_file_of_a_task_that_is_not_there(self):
        other = self.course.root / "other"
        other.write_text("mine\n")
        self.file.unlink()
        self.file.symlink_to(other)
        self.fails("is no plain file", "rooflab", "1 gemv", "x\n")
        self.assertEqual(other.read_text(), "mine\n")
        self.fails("no task 'gem'; it has: gemv, answers", "rooflab", "1 gem", "x\n")
        self.fails("there is no part 7; there are: 1", "rooflab", "7 gemv", "x\n")
        self.fails("say which task", "rooflab", "1", "x\n")

    def test_lets_nothing_act_that_a_submission_says(self):
        label = {"file": EVIL, "line": 1, "column": 1, "length": 1, "excerpt": EVIL, "text": EVIL}
        evil = diagnostic(message=EVIL, labels=[label], evidence=[EVIL], notes=[EVIL], help=EVIL)
        self.course.says(code=1, grade=grade(diagnostics=[evil] * 7, output=EVIL))
        (self.course.said / "page.html").write_text(f"<!doctype html>{EVIL}", encoding="utf-8")
        self.assert_harmless(self.shown("rooflab", "1 gemv", EVIL))

    def test_grades_a_part_as_it_is(self):
        self.course.says(code=0, grade=grade("pass", 15, [], tasks=("gemv", "answers")))
        captured = self.shown("rooflab", "1")
        self.assertIn("Part 1: 15 of 15 points", self.texts(captured))
        self.assertIn("gemv     pass     15/15", self.texts(captured))
        self.assertNotIn("--task", self.course.words_of("grader"))

    def test_shows_hints_and_pages(self):
        self.course.says(b"think of lanes\n")
        self.assertIn("think of lanes", self.texts(self.shown("rooflab", "hint 1 gemv")))
        self.assertIn("--hint", self.course.words_of("grader"))
        self.course.says(b"# RL0301: a race\n")
        page = self.shown("rooflab", "explain RL0301").outputs[0].data
        self.assertEqual(page["text/markdown"], "# RL0301: a race\n")
        self.fails("in %rooflab hint 1 gemm_tiled", "rooflab", "hint gemv")
        self.fails("in %rooflab explain RL0301", "rooflab", "explain")

    def test_says_what_the_grader_says_when_it_cannot_grade(self):
        self.course.says(b"", b"grader: no nvcc; run scripts/setup\n", 2)
        self.fails("no nvcc; run scripts/setup", "rooflab", "1 gemv", "x\n")


class PlacesTest(unittest.TestCase):
    def test_finds_the_course_above_the_working_directory(self):
        from rooflab.errors import RooflabError
        from rooflab.places import find_course
        course = FakeCourse()
        self.addCleanup(course.close)
        del os.environ["ROOFLAB_ROOT"]
        self.assertEqual(find_course(course.root / "starter/part1-fakes").root, course.root)
        with self.assertRaisesRegex(RooflabError, "no student kit or checkout"):
            find_course("/")


class KitsNeedTest(unittest.TestCase):
    def test_versions_agree(self):
        import tomllib

        import rooflab
        folder = pathlib.Path(rooflab.__file__).resolve().parent.parent
        self.assertEqual(tomllib.loads((folder / "pyproject.toml").read_text())["project"]["version"], rooflab.__version__)
        cmake = folder.parent / "CMakeLists.txt"
        if cmake.exists():
            self.assertIn(f"project(rooflab VERSION {rooflab.__version__} ", cmake.read_text())


if __name__ == "__main__":
    unittest.main()

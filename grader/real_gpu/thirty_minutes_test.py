"""`scripts/gpu_tests --thirty-minutes --rehearse`: thirty_minutes_test.py BUILD [whole] [TEST].

With little time it gets through the first steps; `whole` gives it as much as it needs for all, and packs the build, unpacks
it elsewhere, hides the checkout and rehearses from there.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))
import pack_built  # noqa: E402
import thirty_minutes  # noqa: E402

WHOLE = "whole" in sys.argv
BUILD = pathlib.Path(sys.argv[1]).resolve()
sys.argv[1:] = [word for word in sys.argv[2:] if word != "whole"]
ORDER = ["nvidia-smi", "doctor", "gpu.device", "gemm-without-sandbox", "part1-first", "part1-second", "part1-compared", "planted",
         "gpu.calibrate", "hostile", "gpu.cheats", "gpu.toolkit", "gpu.performance", "compare-times", "gpu.semantics"]


def summary_in(archive):
    with tarfile.open(archive) as packed:
        return json.load(packed.extractfile("rooflab-gpu-results/summary.json"))


class RehearsalTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)

    def tearDown(self):
        self.scratch.cleanup()

    def rehearse(self, minutes, most_s):
        """({step: outcome}, summary) of a run with so much time."""
        began = time.monotonic()
        done = subprocess.run([sys.executable, ROOT / "scripts" / "gpu_tests", "--thirty-minutes", "--rehearse", "--minutes",
                               str(minutes), "--build", BUILD, "--results", self.folder], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=most_s)
        self.assertLess(time.monotonic() - began, most_s)
        self.assertNotIn("Traceback", done.stdout)
        summary = summary_in(self.folder / "rooflab-gpu-results.tar.xz")
        return {step["name"]: step["outcome"] for step in summary["steps"]}, summary, done

    def test_gets_as_far_as_its_time_goes_and_says_that_it_was_none_of_a_gpu(self):
        outcomes, summary, _ = self.rehearse(0.2, 90)
        self.assertEqual(list(outcomes)[:len(ORDER)], ORDER)
        self.assertEqual(outcomes["doctor"], "passed")
        self.assertEqual(outcomes["gpu.calibrate"], "not begun: no time left")
        self.assertTrue(summary["rehearsal"])
        self.assertIn("SIMULATED", summary["title"])
        self.assertIn("sim:a100", next(one["command"] for one in summary["steps"] if one["name"] == "compare-times"))
        self.assertNotIn("cuda:0", json.dumps(summary))
        self.assertNotIn(str(ROOT), json.dumps(summary["steps"]))

    def test_one_test_alone_is_rehearsed_where_a_person_names_it(self):
        done = subprocess.run([sys.executable, ROOT / "scripts" / "gpu_tests", "--rehearse", "--only", "^doctor$", "--build", BUILD,
                               "--results", self.folder], text=True, check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=90)
        self.assertEqual(done.returncode, 0, done.stdout)
        steps = summary_in(self.folder / "rooflab-gpu-results.tar.xz")["steps"]
        self.assertEqual([(step["name"], step["outcome"]) for step in steps], [("doctor", "passed")])

    def test_an_option_of_that_run_is_refused_where_it_would_say_nothing(self):
        for words in (["--only", "gpu.device", "--no-build"], ["--minutes", "5"], ["--archive", "x"],
                      ["--rehearse", "--only", "no such step"]):
            done = subprocess.run([sys.executable, ROOT / "scripts" / "gpu_tests", *words, "--build", BUILD, "--results",
                                   self.folder], capture_output=True, text=True, check=False, timeout=90)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertRegex(done.stderr, "--thirty-minutes|no step")

    @unittest.skipUnless(WHOLE, "takes half an hour")
    def test_gets_through_all_of_it(self):
        outcomes, _, done = self.rehearse(60, 3900)
        # A simulated GPU takes long for a solution, and a machine may be busy: that some step has no time is no fault.
        self.assertEqual([name for name, word in outcomes.items() if word == "failed"], [], done.stdout)
        for name in ("doctor", "gemm-without-sandbox", "planted", "gpu.calibrate", "gpu.toolkit", "gpu.performance", "gpu.semantics"):
            self.assertEqual(outcomes[name], "passed", done.stdout)


class PlanTest(unittest.TestCase):
    def test_runs_on_the_real_gpu_unless_it_is_a_rehearsal(self):
        steps = list(thirty_minutes.Plan(BUILD, pathlib.Path("/results"), rehearse=False).steps())
        self.assertEqual([step.name for step in steps][:len(ORDER)], ORDER)
        self.assertEqual([step.name for step in steps if not step.command and not step.function], [])
        said = [" ".join(map(str, step.command or [])) for step in steps]
        self.assertNotIn("sim:", "".join(said))
        planted = said[ORDER.index("planted")]
        self.assertTrue(planted.endswith("naive_no_bounds_check tiled_missing_second_barrier"), planted)
        self.assertIn("--device cuda:0 kernel_left_running", said[ORDER.index("hostile")])

    def test_tells_of_steps_that_a_build_lacks(self):
        with tempfile.TemporaryDirectory() as empty:
            steps = list(thirty_minutes.Plan(pathlib.Path(empty), pathlib.Path("/results"), rehearse=True).steps())
        self.assertIsNone(steps[2].command)
        self.assertEqual(steps[2].name, "gpu.device")


class PackBuiltTest(unittest.TestCase):
    def test_finds_the_libraries_that_a_machine_may_lack(self):
        listing = ("\tlinux-vdso.so.1 (0x1)\n\tlibfmt.so.9 => /lib/libfmt.so.9 (0x2)\n\tlibc.so.6 => /lib/libc.so.6 (0x3)\n"
                   "\tlibcudart.so.13 => not found\n\tlibgone.so.1 => not found\n\tlibcublas.so.13 => /x/libcublas.so.13 (0x4)\n"
                   "\t/lib64/ld-linux-x86-64.so.2 (0x5)\n\tlibstdc++.so.6 => /lib/libstdc++.so.6 (0x6)\n"
                   "\tlibcsv.so.3 => /lib/libcsv.so.3 (0x7)\n\tlibcap.so.2 => /lib/libcap.so.2 (0x8)\n")
        self.assertEqual(pack_built.dependencies(listing),
                         {"libfmt.so.9": pathlib.Path("/lib/libfmt.so.9"), "libgone.so.1": None,
                          "libcsv.so.3": pathlib.Path("/lib/libcsv.so.3"), "libcap.so.2": pathlib.Path("/lib/libcap.so.2")})

    def test_commands_come_back_with_the_folders_of_another_machine(self):
        tests = {"gpu.x": (["/usr/bin/python3", f"{ROOT}/on_gpu", "--cuda", "/opt/cuda", "--", "/opt/venv/bin/python3.11",
                            f"{BUILD}/tests/x", f"{ROOT}elsewhere"], {"ROOFLAB_ROOT": str(ROOT)})}
        table = pack_built.portable_table(BUILD, tests, pack_built.toolkit_in(tests))
        self.assertEqual(table["gpu.x"]["command"],
                         ["@PYTHON@", "@ROOT@/on_gpu", "--cuda", "@CUDA@", "--", "@PYTHON@", "@BUILD@/tests/x", f"{ROOT}elsewhere"])
        with tempfile.TemporaryDirectory() as folder:
            build = pathlib.Path(folder)
            (build / thirty_minutes.TABLE).write_text(json.dumps(table))
            words, environment = thirty_minutes.registered(build)["gpu.x"]
        self.assertEqual(words[0], sys.executable)
        self.assertEqual(words[6], f"{build}/tests/x")
        self.assertEqual(environment, {"ROOFLAB_ROOT": str(ROOT)})

    @unittest.skipUnless(WHOLE and os.geteuid() == 0 and shutil.which("unshare"), "packs everything, and hides folders")
    def test_what_is_packed_runs_where_neither_checkout_nor_build_are(self):
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            folder = pathlib.Path(folder)
            archive = folder / "built.tar.xz"
            pack_built.pack(archive, BUILD, print, preset=1)
            subprocess.run(["tar", "xf", archive, "-C", folder], check=True)
            # As if the machine had none of the libraries: a loader's list with nothing in it.
            (folder / "bin").mkdir()
            (folder / "bin" / "ldconfig").write_text("#!/bin/sh\n")
            (folder / "bin" / "ldconfig").chmod(0o755)
            hide = f'mount -t tmpfs none "{ROOT}" && exec "$@"'
            done = subprocess.run(
                ["unshare", "--mount", "sh", "-c", hide, "sh", folder / "rooflab" / "run_on_gpu", "--rehearse", "--minutes", "2"],
                cwd="/", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600, check=False,
                env={**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "PYTHON": sys.executable})
            summary = summary_in(folder / "rooflab" / "out" / "gpu" / "rooflab-gpu-results.tar.xz")
            outcomes = {step["name"]: step["outcome"] for step in summary["steps"]}
            self.assertEqual((outcomes["doctor"], outcomes["gemm-without-sandbox"]), ("passed", "passed"), done.stdout)
            self.assertIn(outcomes["gpu.device"], ("skipped", "passed"))
            links = [link.name for link in (folder / "rooflab" / "build" / "missing").iterdir()]
            self.assertTrue(any(name.startswith("libfmt") for name in links), links)


if __name__ == "__main__":
    unittest.main(verbosity=2)

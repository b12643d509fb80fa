"""`measure` with stand-ins for the program and for simgpu."""

import lzma
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
# Prints other lines under `simgpu`, which sets SIMULATED.
PROGRAM = """#!/bin/sh
echo "arith add.rn.f32 3f800000 3f800000 -> 40000000"
%s
echo "end arith -> exit 0"
"""
SIMGPU = """#!/bin/sh
echo "$@" > "$(dirname "$0")/asked"
while [ "$1" != "--" ]; do shift; done
shift
SIMULATED=1 exec "$@"
"""


class MeasureTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.build = pathlib.Path(self.scratch.name)
        self.results = self.build / "results"
        self.install("bin/simgpu", SIMGPU)

    def tearDown(self):
        self.scratch.cleanup()

    def install(self, name, text):
        file = self.build / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)
        return file

    def measure(self, more, *words):
        program = self.install("program", PROGRAM % more)
        return subprocess.run(
            [sys.executable, HERE / "measure", "--build", self.build, "--program", program, *words], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False,
            env={**os.environ, "ROOFLAB_GPU_RESULTS": str(self.results), "LD_LIBRARY_PATH": str(self.build)})

    def kept(self, name):
        return lzma.decompress((self.results / name).read_bytes()).decode()

    def test_is_good_where_both_say_the_same(self):
        done = self.measure("", "--gpu", "h200")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("arith: 1 lines equal, 0 differ", done.stdout)
        self.assertIn("--gpu h200", (self.build / "bin" / "asked").read_text())
        self.assertEqual(self.kept("semantics-real.txt.xz"), self.kept("semantics-sim.txt.xz"))

    def test_tells_and_keeps_what_differs(self):
        done = self.measure('echo "arith add.rn.f32 1 1 -> 0000000$SIMULATED"', "--gpu", "h200")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("arith add.rn.f32 1 1", (self.results / "semantics-unaccepted.txt").read_text())
        self.assertIn("-> 00000001", self.kept("semantics-sim.txt.xz"))

    def test_keeps_what_a_program_said_before_it_died(self):
        done = self.measure('[ -n "$SIMULATED" ] || kill -9 $$', "--gpu", "h200")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("the GPU: 1 lines in 0 s, ended by signal 9", done.stdout)
        self.assertIn("add.rn.f32", self.kept("semantics-real.txt.xz"))

    def test_rehearses_with_simgpu_in_place_of_the_gpu(self):
        done = self.measure("", "--rehearse")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("simgpu, in place of the GPU: 2 lines", done.stdout)

    def test_is_skipped_where_the_runtime_has_no_gpu(self):
        (self.build / "libcudart.so.13").touch()  # before any other, and not to be loaded
        self.assertEqual(self.measure("").returncode, 77)


if __name__ == "__main__":
    unittest.main()

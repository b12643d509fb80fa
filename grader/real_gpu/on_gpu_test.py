"""`on_gpu` with a stand-in for NVIDIA's runtime, and with one that has no GPU: on_gpu_test.py BUILD."""

import os
import pathlib
import subprocess
import sys
import unittest

BUILD = pathlib.Path(sys.argv.pop())
ON_GPU = pathlib.Path(__file__).parent / "on_gpu"


def run(*command, libraries, **environment):
    return subprocess.run([sys.executable, ON_GPU, "--", *command], text=True, capture_output=True, timeout=60,
                          env={**os.environ, "LD_LIBRARY_PATH": str(libraries), **environment})


class OnGpuTest(unittest.TestCase):
    def test_runs_the_command_where_there_is_a_gpu_and_ends_as_it_does(self):
        done = run("sh", "-c", "echo measured; exit 5", libraries=BUILD / "tests" / "fake_cuda")
        self.assertEqual((done.returncode, done.stdout), (5, "measured\n"))

    def test_is_skipped_where_the_runtime_counts_no_gpu(self):
        done = run("false", libraries=BUILD / "tests" / "fake_cuda", ROOFLAB_FAKE_CUDA_GPUS="0")
        self.assertEqual(done.returncode, 77)
        self.assertIn("skipped: this needs a GPU", done.stdout)

    def test_is_skipped_where_there_is_no_runtime(self):
        done = run("false", libraries=BUILD / "bin")
        self.assertEqual(done.returncode, 77)
        self.assertIn("there is none (", done.stdout)


if __name__ == "__main__":
    unittest.main()

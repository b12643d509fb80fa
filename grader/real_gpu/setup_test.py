"""`scripts/setup` and the kit's, where the toolkit comes from PyPI: cuBLAS comes with it where there is a GPU."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Everything is installed, but for a toolkit; pip makes what the wheels hold and notes their names.
STAND_INS = {
    "dpkg-query": "#!/bin/sh\necho installed\n",
    "python3": """#!/usr/bin/env bash
[ "$3" = --version ] && exit
while [ "$1" != --target ]; do shift; done
toolkit=$2/nvidia/cu13
shift 2
printf '%s\\n' "$@" >>installed
mkdir -p "$toolkit/bin" "$toolkit/lib" "$toolkit/include"
touch "$toolkit/bin/nvcc" "$toolkit/include/cupti_activity.h"
chmod +x "$toolkit/bin/nvcc"
case "$*" in *cublas*) touch "$toolkit/lib/libcublas.so.13" ;; esac
""",
}


def bubblewrap_works():
    command = ["bwrap", "--bind", "/", "/", "--tmpfs", "/usr/local", "--dev", "/dev", "true"]
    return shutil.which("bwrap") and subprocess.run(command, capture_output=True).returncode == 0


@unittest.skipUnless(bubblewrap_works(), "needs bubblewrap, to hide the toolkit and GPU of this machine")
class SetupTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        for file in ("scripts/setup", "scripts/setup_common"):
            self.copy(file)
        for header in (ROOT / "simgpu/cublas/include").iterdir():
            self.copy(str(header.relative_to(ROOT)))
        (self.folder / "stand_ins").mkdir()
        for name, text in STAND_INS.items():
            (self.folder / "stand_ins" / name).write_text(text)
            (self.folder / "stand_ins" / name).chmod(0o755)

    def copy(self, file):
        (self.folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, self.folder / file)

    def set_up(self, gpu):
        """Runs it, and returns the wheels that it installed."""
        noted = self.folder / "installed"
        noted.write_text("")
        node = ["--dev-bind", "/dev/null", "/dev/nvidiactl"] if gpu else []
        command = ["bwrap", "--bind", "/", "/", "--tmpfs", "/usr/local", "--dev", "/dev", *node, "--chdir", self.folder,
                   "--setenv", "PATH", f"{self.folder}/stand_ins:/usr/bin:/bin", "--unsetenv", "CUDA_HOME",
                   "scripts/setup", "--deps-only"]
        self.run_of_setup = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(self.run_of_setup.returncode, 0, self.run_of_setup.stderr)
        return [wheel.split("==")[0] for wheel in noted.read_text().split()]

    def library(self, name):
        return self.folder / ".cuda" / "lib" / name

    def test_leaves_cublas_out_where_there_is_no_gpu(self):
        wheels = self.set_up(gpu=False)
        self.assertIn("nvidia-cuda-nvcc", wheels)
        self.assertNotIn("nvidia-cublas", wheels)
        self.assertTrue((self.folder / ".cuda/include/cublas_v2.h").exists())

    def test_installs_cublas_where_there_is_a_gpu(self):
        self.assertIn("nvidia-cublas", self.set_up(gpu=True))
        self.assertEqual(self.library("libcublas.so").resolve(), self.library("libcublas.so.13").resolve())
        # NVIDIA's own headers come with the library.
        self.assertFalse((self.folder / ".cuda/include/cublas_v2.h").exists())

    def test_installs_it_once_a_gpu_is_there(self):
        self.set_up(gpu=False)
        self.assertIn("nvidia-cublas", self.set_up(gpu=True))
        self.assertIn("there is a GPU, and the toolkit in .cuda/ has no cuBLAS for it", self.run_of_setup.stdout)

    def test_installs_nothing_twice(self):
        for gpu in (False, True):
            self.set_up(gpu)
            self.assertEqual(self.set_up(gpu), [])


if __name__ == "__main__":
    unittest.main()

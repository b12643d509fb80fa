"""`scripts/setup` and the kit's, where the toolkit comes from PyPI: cuBLAS comes with it where there is a GPU. Systems that lack something."""

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
            self.stand_in(name, text)

    def stand_in(self, name, text):
        (self.folder / "stand_ins" / name).write_text(text)
        (self.folder / "stand_ins" / name).chmod(0o755)

    def copy(self, file):
        (self.folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, self.folder / file)

    def run_setup(self, gpu, *words):
        node = ["--dev-bind", "/dev/null", "/dev/nvidiactl"] if gpu else []
        command = ["bwrap", "--bind", "/", "/", "--tmpfs", "/usr/local", "--dev", "/dev", *node, "--chdir", self.folder,
                   "--setenv", "PATH", f"{self.folder}/stand_ins:/usr/bin:/bin", "--unsetenv", "CUDA_HOME",
                   "scripts/setup", *words]
        self.run_of_setup = subprocess.run(command, capture_output=True, text=True)

    def set_up(self, gpu):
        """Runs it, and returns the wheels that it installed."""
        noted = self.folder / "installed"
        noted.write_text("")
        self.run_setup(gpu, "--deps-only")
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

    def compiler_on_path(self, release):
        self.stand_in("nvcc", f"#!/bin/sh\necho 'Cuda compilation tools, release {release}, V{release}.1'\n")

    def test_passes_over_a_compiler_that_is_too_old(self):
        self.compiler_on_path("11.8")
        self.assertIn("nvidia-cuda-nvcc", self.set_up(gpu=False))
        self.assertIn(f"nvcc is {self.folder}/.cuda/bin/nvcc", self.run_of_setup.stdout)

    def test_takes_one_of_cuda_12_with_its_own_cupti(self):
        self.compiler_on_path("12.4")
        self.assertEqual(self.set_up(gpu=False), ["nvidia-cuda-cupti-cu12"])

    def test_says_what_a_kit_for_cuda_12_needs(self):
        (self.folder / "VERSION").write_text("Rooflab 0.1.0, the student kit\nbuilt by  g++ (GCC) 12.2.0; nvcc 12.4\n")
        self.compiler_on_path("13.0")
        self.run_setup(False, "--deps-only")
        self.assertNotEqual(self.run_of_setup.returncode, 0)
        self.assertIn("this kit is for CUDA 12, and no nvcc of it is on PATH", self.run_of_setup.stderr)
        self.assertIn("nvidia-cuda-toolkit", self.run_of_setup.stderr)

    def test_installs_nothing_twice(self):
        for gpu in (False, True):
            self.set_up(gpu)
            self.assertEqual(self.set_up(gpu), [])

    def test_goes_on_without_a_package_that_the_system_has_not(self):
        self.stand_in("id", "#!/bin/sh\necho 0\n")
        self.stand_in("dpkg-query", '#!/bin/sh\ncase "$*" in *libcsv-dev|*libfmt-dev) ;; *) echo installed ;; esac\n')
        self.stand_in("apt-get", '#!/bin/sh\ncase "$*" in *simulate*libcsv-dev*) exit 100 ;; *simulate*|update*) ;; '
                                 f'*) echo "$*" >{self.folder}/asked ;; esac\n')
        self.set_up(gpu=False)
        self.assertEqual((self.folder / "asked").read_text(), "install -y -q --no-install-recommends libfmt-dev\n")
        self.assertIn("this system has no package libcsv-dev; going on without it", self.run_of_setup.stderr)

    def test_says_that_cmake_is_too_old_before_cmake_does(self):
        self.copy("CMakeLists.txt")
        self.stand_in("cmake", "#!/bin/sh\necho cmake version 3.9.1\n")
        self.run_setup(False)
        self.assertEqual(self.run_of_setup.returncode, 1)
        self.assertRegex(self.run_of_setup.stderr, r"CMake 3\.9\.1 is too old: 3\.\d+ is needed")


if __name__ == "__main__":
    unittest.main()

"""Programs of the other major version of CUDA print and do under `simgpu run` what those of the build's own do.

other_cuda_test.py BUILD MAJOR: compiles programs of testdata/ with a toolkit whose major version is not MAJOR, the build's. It is
looked for in $ROOFLAB_OTHER_CUDA_ROOT, /usr/local/cuda-* and where Debian has it; without one the test is skipped.
"""

import glob
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).parent
ROOT = FOLDER.parents[1]
SKIPPED = 77
OLDEST = (12, 4)
LIBRARIES = {"cublas_products": ["cublas"], "graphs": ["cublas"]}
# One is linked with libraries whose numbers are not those of CUDA, one asks where a version's device attributes end.
LEFT_OUT = {"absent_libraries", "queries"}
BUILD = pathlib.Path()
OTHER = pathlib.Path()


def release_of(nvcc):
    said = subprocess.run([nvcc, "--version"], capture_output=True, text=True).stdout
    found = re.search(r"release (\d+)\.(\d+)", said)
    return tuple(map(int, found.groups())) if found else (0, 0)


def other_toolkit(major):
    """The folder of one, or None."""
    candidates = [os.environ.get("ROOFLAB_OTHER_CUDA_ROOT", ""), *sorted(glob.glob("/usr/local/cuda-*"), reverse=True), "/usr"]
    for candidate in filter(None, candidates):
        nvcc = pathlib.Path(candidate) / "bin/nvcc"
        release = release_of(nvcc) if nvcc.exists() else (0, 0)
        if release >= OLDEST and release[0] != major:
            return pathlib.Path(candidate)
    return None


class OtherCudaTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)

    def compile(self, name):
        program = self.scratch / name
        sources = sorted((FOLDER / "testdata").glob(f"{name}*.cu")) if name == "two_files" else [FOLDER / "testdata" / f"{name}.cu"]
        major = release_of(OTHER / "bin/nvcc")[0]
        libraries = [f"-l:lib{library}.so.{major}" for library in [*LIBRARIES.get(name, []), "cudart"]]
        # As the build's own: a toolkit older than 12.8 has not all of the functions.
        command = [OTHER / "bin/nvcc", "-std=c++20", "-O2", "-lineinfo", "-cudart", "none",
                   "-gencode=arch=compute_80,code=[sm_80,compute_80]", f"-I{ROOT}/simgpu/cublas/include", *sources, "-o", program,
                   f"-L{BUILD}/lib/simgpu", *libraries]
        made = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(made.returncode, 0, made.stdout + made.stderr)
        return program

    def run_simulated(self, program):
        """Its exit code, what it prints, and the codes and lines of what is found."""
        report = self.scratch / "report.json"
        ran = subprocess.run([BUILD / "bin/simgpu", "run", "--report", report, "--", program], capture_output=True, text=True,
                             cwd=self.scratch)
        findings = [(finding["code"], finding["line"], finding["kernel"]) for finding in json.loads(report.read_text())["findings"]]
        return ran.returncode, ran.stdout, findings

    def test_programs_do_the_same(self):
        for source in sorted((FOLDER / "testdata").glob("*.cu")):
            own = BUILD / "cuda" / source.stem
            if not own.exists() or source.stem in LEFT_OUT:
                continue
            with self.subTest(source.stem):
                self.assertEqual(self.run_simulated(self.compile(source.stem)), self.run_simulated(own))


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv[1])
    OTHER = other_toolkit(int(sys.argv[2]))
    if OTHER is None:
        print(f"skipped: no toolkit of another major version than {sys.argv[2]}; name one in ROOFLAB_OTHER_CUDA_ROOT")
        sys.exit(SKIPPED)
    print(f"CUDA {'.'.join(map(str, release_of(OTHER / 'bin/nvcc')))} in {OTHER}")
    unittest.main(argv=sys.argv[:1])

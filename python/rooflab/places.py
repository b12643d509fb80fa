"""Where the programs and the student's files are."""

import dataclasses
import os
import pathlib
import shutil

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

from rooflab.errors import RooflabError


@dataclasses.dataclass(frozen=True)
class Course:
    """A student kit or a checkout, with its programs built."""

    root: pathlib.Path

    @property
    def grader(self):
        return self.root / "build/bin/grader"

    @property
    def simgpu(self):
        return self.root / "build/bin/simgpu"

    def gpus(self):
        return sorted(file.stem for file in (self.root / "specs/gpus").glob("*.toml"))

    def compute_capability(self, gpu):
        """"80" of an A100. Raises RooflabError for a GPU that is in no file."""
        if gpu not in self.gpus():
            raise RooflabError(f"there is no GPU {gpu!r}; there are: {', '.join(self.gpus())}")
        major, minor = _toml(self.root / f"specs/gpus/{gpu}.toml")["compute_capability"]
        return f"{major}{minor}"

    def roofs(self, gpu):
        """Peak of fp32 in FLOP/s, and bandwidth of DRAM in B/s."""
        document = _toml(self.root / f"specs/gpus/{gpu}.toml")
        return document["peak_tflops"]["fp32"] * 1e12, document["memory"]["dram_gb_per_s"] * 1e9

    def part(self, number):
        """A Part. Raises RooflabError when there is none of that number."""
        folders = sorted((self.root / "labs").glob("part*/part.toml"))
        parts = {document["number"]: (file.parent.name, document) for file in folders for document in [_toml(file)]}
        if number not in parts:
            there_are = ", ".join(map(str, sorted(parts)))
            raise RooflabError(f"there is no part {number}; there are: {there_are}")
        folder, document = parts[number]
        return Part(number, folder, {task["id"]: task["file"] for task in document["task"]})

    def submission(self):
        """The student's folder: $ROOFLAB_SUBMISSION, or else starter/ of the course."""
        named = os.environ.get("ROOFLAB_SUBMISSION")
        return pathlib.Path(named).absolute() if named else self.root / "starter"


@dataclasses.dataclass(frozen=True)
class Part:
    number: int
    folder: str
    files: dict  # of each task, in the student's folder of the part

    def file_of(self, task):
        if task not in self.files:
            raise RooflabError(f"part {self.number} has no task {task!r}; it has: {', '.join(self.files)}")
        return self.files[task]


def _toml(file):
    try:
        return tomllib.loads(file.read_text())
    except (OSError, ValueError) as error:
        raise RooflabError(f"{file} cannot be read: {error}; restore it from the kit") from error


def find_course(start=None):
    """The course of $ROOFLAB_ROOT, or of the first folder above `start` that is a kit or a checkout."""
    named = os.environ.get("ROOFLAB_ROOT")
    if named:
        root = pathlib.Path(named).absolute()
        if not (root / "labs/course.toml").is_file():
            raise RooflabError(f"ROOFLAB_ROOT is {root}, which is neither a kit nor a checkout of Rooflab: set it to one")
    else:
        here = pathlib.Path(start or pathlib.Path.cwd()).absolute()
        root = next((folder for folder in (here, *here.parents) if (folder / "labs/course.toml").is_file()), None)
        if root is None:
            raise RooflabError(f"no student kit or checkout of Rooflab in {here} or above: start Jupyter in one, or set "
                               "ROOFLAB_ROOT to it")
    course = Course(root)
    for program in (course.grader, course.simgpu):
        if not os.access(program, os.X_OK):
            raise RooflabError(f"{program} is missing: run scripts/setup in {root}")
    return course


def find_nvcc(course):
    """The compiler, as scripts/setup looks for it."""
    named = os.environ.get("ROOFLAB_NVCC")
    cuda_home = os.environ.get("CUDA_HOME")
    candidates = [named, shutil.which("nvcc"), cuda_home and f"{cuda_home}/bin/nvcc", "/usr/local/cuda/bin/nvcc",
                  course.root / ".cuda/bin/nvcc"]
    for candidate in candidates:
        if candidate and os.access(candidate, os.X_OK) and pathlib.Path(candidate).is_file():
            return pathlib.Path(candidate)
    raise RooflabError(f"there is no nvcc on the PATH, in CUDA_HOME or in {course.root}/.cuda: run scripts/setup in "
                       f"{course.root}, which puts NVIDIA's compiler there")

"""A cell of a task: written to the student's file, and graded."""

import dataclasses
import hashlib
import itertools
import json
import os
import pathlib
import tempfile

from rooflab.errors import RooflabError
from rooflab.programs import run
from rooflab.words import one_line

GRADE_S = 1800
FINE = (0, 1)  # exit codes of a grade
MOST_JSON = 64 << 20


@dataclasses.dataclass(frozen=True)
class Grade:
    document: dict
    page: str


def write_file(course, part, task, cell):
    """Makes the cell the student's file of a task. What was there before is kept beside it, as NAME.orig (NAME.orig2 where there is
    one), unless a cell wrote it. Returns the file and that one, which is None where nothing was kept."""
    file = course.submission() / part.folder / part.file_of(task)
    written = _WrittenFiles(course)
    text = cell if cell.endswith("\n") else cell + "\n"
    try:
        if file.is_symlink() or (file.exists() and not file.is_file()):
            raise RooflabError(f"{file} is no plain file: move it away, and run the cell again")
        file.parent.mkdir(parents=True, exist_ok=True)
        before = file.read_bytes() if file.exists() else None
        if before == text.encode():
            return file, None
        kept = _free_name(file) if before is not None and not written.has(file, before) else None
        if kept:
            _write(kept, before)
        _write(file, text.encode())
        written.add(file, text.encode())
    except OSError as error:
        raise RooflabError(f"{error.filename or file} cannot be written: {error.strerror}") from error
    return file, kept


def _free_name(file):
    names = (file.with_name(f"{file.name}.orig{number if number > 1 else ''}") for number in itertools.count(1))
    return next(name for name in names if not os.path.lexists(name))


class _WrittenFiles:
    """What cells wrote last, by file: only that may be replaced without keeping it."""

    def __init__(self, course):
        self._file = course.root / "out/notebook_cells.json"
        try:
            known = json.loads(self._file.read_text())
        except (OSError, ValueError):
            known = {}
        self._known = known if isinstance(known, dict) else {}

    def has(self, file, contents):
        return self._known.get(str(file)) == hashlib.sha256(contents).hexdigest()

    def add(self, file, contents):
        self._known[str(file)] = hashlib.sha256(contents).hexdigest()
        try:
            self._file.parent.mkdir(exist_ok=True)
            _write(self._file, json.dumps(self._known, indent=1).encode())
        except OSError:
            pass  # then the next cell keeps the file once more


def _write(file, contents):
    """The whole file or nothing of it."""
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(contents)
        os.chmod(name, 0o644)
        os.replace(name, file)
    except BaseException:
        os.unlink(name)
        raise


def submission_flag(course):
    """What names the student's folder to the grader: nothing where it is the usual one, which then stands in no command that
    a report shows."""
    return ["--submission", course.submission()] if os.environ.get("ROOFLAB_SUBMISSION") else []


def grade(course, part, task=None, device=None):
    """Grades a task, or the whole part."""
    with tempfile.TemporaryDirectory(prefix="rooflab-") as name:
        page, result = pathlib.Path(name) / "report.html", pathlib.Path(name) / "grade.json"
        command = [course.grader, "--part", part.number, *submission_flag(course), "--html", page, "--json", result]
        if task:
            command += ["--task", task]
        if device:
            command += ["--device", device]
        ran = run(command, GRADE_S, folder=course.root)
        if ran.timed_out:
            raise RooflabError(f"the grader was stopped after {GRADE_S} s; grade single tasks")
        try:
            if result.stat().st_size > MOST_JSON:
                raise ValueError("it is too large")
            document = json.loads(result.read_text(encoding="utf-8"))
            return Grade(document, page.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise RooflabError(one_line(ran.error).removeprefix("grader: ")[-800:]
                               or f"the grader wrote no result: {error}") from error


def answer_of(course, *arguments):
    """What the grader prints for a command that only shows something."""
    ran = run([course.grader, *arguments], 60, folder=course.root)
    if ran.code != 0 or ran.timed_out:
        raise RooflabError(one_line(ran.error).removeprefix("grader: ") or "the grader does not answer")
    return ran.out

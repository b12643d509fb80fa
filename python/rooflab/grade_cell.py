"""A cell of a task: written to the student's file, and graded."""

import dataclasses
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
    """Makes the cell the student's file of a task. What was there before is kept beside it, as NAME.orig, unless there is one
    already. Returns the file and that one, which is None where nothing was kept."""
    file = course.submission() / part.folder / part.file_of(task)
    kept = file.with_name(file.name + ".orig")
    text = cell if cell.endswith("\n") else cell + "\n"
    try:
        if file.is_symlink() or (file.exists() and not file.is_file()):
            raise RooflabError(f"{file} is no plain file: move it away, and run the cell again")
        file.parent.mkdir(parents=True, exist_ok=True)
        before = file.read_bytes() if file.exists() else None
        if before == text.encode():
            return file, None
        keeps = before is not None and not os.path.lexists(kept)
        if keeps:
            _write(kept, before)
        _write(file, text.encode())
    except OSError as error:
        raise RooflabError(f"{error.filename or file} cannot be written: {error.strerror}") from error
    return file, kept if keeps else None


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


def grade(course, part, task=None, device=None):
    """Grades a task, or the whole part."""
    with tempfile.TemporaryDirectory(prefix="rooflab-") as name:
        page, result = pathlib.Path(name) / "report.html", pathlib.Path(name) / "grade.json"
        command = [course.grader, "--part", part.number, "--submission", course.submission(), "--html", page,
                   "--json", result]
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

"""The magics: what is typed, and what is shown for it."""

import argparse
import shlex

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_cell_magic, magics_class
from IPython.display import display

from rooflab import findings, report_words, roofline, shown
from rooflab.cuda_cell import CudaOptions, run_cell
from rooflab.errors import RooflabError
from rooflab.grade_cell import answer_of, grade, submission_flag, write_file
from rooflab.places import find_course

CUDA_HELP = """%%cuda [--gpu a100] [--device sim|cuda] [--explore] [--roofline] [--checkers|--no-checkers]
       [--timeout SECONDS]
Compiles the cell as a CUDA program and runs it on a simulated GPU, or with --device cuda on the one that is here."""
ROOFLAB_HELP = """%%rooflab PART TASK [--device DEVICE]   grades the cell as that task's file
%rooflab PART [TASK] [--device DEVICE]    grades the files as they are
%rooflab hint PART TASK [NAME]            shows the next hint
%rooflab explain CODE                     says what a diagnosis means
%rooflab                                  says where you are, and what is next"""


class _Parser(argparse.ArgumentParser):
    """One that says what is wrong instead of ending the kernel."""

    def error(self, message):
        raise RooflabError(f"{message}\n{self.description}")


def _words(line):
    try:
        return shlex.split(line)
    except ValueError as error:
        raise RooflabError(f"the line cannot be read: {error}") from error


def _positive(text):
    value = float(text)
    if not 0 < value <= 86400:
        raise ValueError
    return value


def cuda_options(line):
    parser = _Parser(prog="%%cuda", add_help=False, allow_abbrev=False, description=CUDA_HELP)
    parser.add_argument("--gpu", default=CudaOptions.gpu)
    parser.add_argument("--device", default=CudaOptions.device, choices=("sim", "cuda"))
    parser.add_argument("--explore", action="store_true")
    parser.add_argument("--roofline", action="store_true")
    parser.add_argument("--checkers", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--timeout", type=_positive, default=CudaOptions.timeout_s)
    asked = parser.parse_args(_words(line))
    return CudaOptions(asked.gpu, asked.device, asked.explore, asked.roofline, asked.checkers, asked.timeout)


def _grade_options(words):
    parser = _Parser(prog="%rooflab", add_help=False, allow_abbrev=False, description=ROOFLAB_HELP)
    parser.add_argument("part", type=int)
    parser.add_argument("task", nargs="?")
    parser.add_argument("--device")
    return parser.parse_args(words)


def _show_ending(run, timeout_s):
    if run.timed_out:
        shown.show_text(f"the program was stopped after {timeout_s:g} s; --timeout gives it more", "error")
    elif run.code != 0:
        how = f"by signal {-run.code}" if run.code < 0 else f"with exit code {run.code}"
        shown.show_text(f"the program ended {how}", "warning")


def _show_roofline(report, gpu, roofs):
    points = roofline.points_of(report)
    if not points:
        shown.show_text("no kernel did fp32 operations on what crossed DRAM: the roofline has no point", "note")
        return
    svg, words = roofline.chart(points, gpu, *roofs)
    shown.show(words, svg + shown.text_block(words))


def show_cuda(course, run, cell, options):
    if run.compiler:
        shown.show_text(run.compiler, "warning" if run.compiled else "error")
    if not run.compiled:
        return
    shown.show_printed(run.out)
    if run.error:
        shown.show_text(run.error, "warning")
    _show_ending(run, options.timeout_s)
    for note in run.notes:
        shown.show_text(note, "note")
    if run.report is None:
        return
    for kind, text in findings.stories(run.report, cell):
        shown.show_text(text, kind)
    rows = findings.kernel_rows(run.report)
    if rows:
        shown.show_table(f"on a simulated {options.gpu}; times are modelled", findings.KERNEL_HEAD, rows)
    if options.roofline:
        _show_roofline(run.report, options.gpu, course.roofs(options.gpu))
    if run.replay:
        shown.show_page(run.replay, "The program step by step", scripts=True)


def show_grade(result, cell_file=None):
    document = result.document
    shown.show_text(report_words.score_line(document), "fine" if report_words.is_fine(document) else "error")
    if len(document["tasks"]) > 1:
        shown.show_table(f"Part {document['part']}, task by task", report_words.TASK_HEAD, report_words.task_rows(document))
    for kind, text in report_words.diagnoses(document, cell_file):
        shown.show_text(text, kind)
    shown.show_printed(report_words.printed(document))
    shown.show_page(result.page, f"The report of part {document['part']}", scripts=False)


@magics_class
class RooflabMagics(Magics):
    """`%%cuda`, `%%rooflab` and `%rooflab`."""

    @cell_magic
    def cuda(self, line, cell):
        """Compiles and runs the cell as a CUDA program."""
        try:
            options = cuda_options(line)
            course = find_course()
            show_cuda(course, run_cell(course, cell, options), cell, options)
        except RooflabError as error:
            raise UsageError(str(error)) from None

    @line_cell_magic
    def rooflab(self, line, cell=None):
        """Grades the cell, or what the line names."""
        try:
            words = _words(line)
            if cell is not None:
                self._grade_cell(words, cell)
            elif not words:
                shown.show_text(answer_of(find_course()))
            elif words[0] == "hint":
                self._hint(words[1:])
            elif words[0] == "explain":
                self._explain(words[1:])
            else:
                asked = _grade_options(words)
                course = find_course()
                part = course.part(asked.part)
                if asked.task:
                    part.file_of(asked.task)  # says which tasks there are
                show_grade(grade(course, part, asked.task, asked.device))
        except RooflabError as error:
            raise UsageError(str(error)) from None

    def _grade_cell(self, words, cell):
        asked = _grade_options(words)
        if not asked.task:
            raise RooflabError(f"say which task the cell is of, as in %%rooflab 1 gemm_tiled\n{ROOFLAB_HELP}")
        course = find_course()
        part = course.part(asked.part)
        file, kept = write_file(course, part, asked.task, cell)
        if kept:
            shown.show_text(f"{file} is this cell now; what it held before is in {kept.name} beside it", "note")
        show_grade(grade(course, part, asked.task, asked.device), file.name)

    def _hint(self, words):
        if len(words) not in (2, 3) or not words[0].isdecimal():
            raise RooflabError("say for which task, as in %rooflab hint 1 gemm_tiled")
        course = find_course()
        course.part(int(words[0])).file_of(words[1])
        shown.show_text(answer_of(course, "--part", words[0], "--task", words[1], *submission_flag(course), "--hint",
                                  *words[2:]))

    def _explain(self, words):
        if len(words) != 1:
            raise RooflabError("say which code, as in %rooflab explain RL0301")
        page = answer_of(find_course(), "explain", words[0])
        display({"text/plain": page, "text/markdown": page}, raw=True)  # the course's own words

import json
import os

RUNS = "worklog_runs.json"


def write(part, text):
    (part / RUNS).write_text(text)


def changed(part, **values):
    """The runs with other values; a function is called with the run."""
    runs = json.loads((part / RUNS).read_text())["runs"]
    for run in runs:
        run.update({key: value(run) if callable(value) else value for key, value in values.items()})
    write(part, json.dumps({"runs": runs}))


def make_nested(_submission, part, _file):
    write(part, '{"runs": ' + "[" * 500_000)


def make_nested_tables(_submission, part, _file):
    write(part, '{"runs": ' + '{"a": ' * 100_000 + "1" + "}" * 100_000 + "}")


def make_too_large(_submission, part, _file):
    write(part, (part / RUNS).read_text() + " " * 1_100_000)


def make_no_text(_submission, part, _file):
    (part / RUNS).write_bytes(b"\xff\xfe{\x00}" * 1000)


def make_is_a_link(_submission, part, _file):
    (part / RUNS).unlink()
    os.symlink("/dev/zero", part / RUNS)


def make_is_a_pipe(_submission, part, _file):
    (part / RUNS).unlink()
    os.mkfifo(part / RUNS)


def make_numbers_that_are_none(_submission, part, _file):
    changed(part, time_us=-1e308, version="1")


def make_versions_without_end(_submission, part, _file):
    runs = json.loads((part / RUNS).read_text())["runs"]
    tiny = [{"version": n, "task": "gemm_naive", "time_us": 1} for n in range(13, 9_000)]
    write(part, json.dumps({"runs": runs + tiny}))


def make_counters_without_end(_submission, part, _file):
    changed(part, counters=lambda run: {**run["counters"], **{f"c{n}": n for n in range(15_000)}})


def make_files_that_lead_out(_submission, part, _file):
    names = ("../../answers.key.toml", "/etc/passwd", "gemm.h", "..", "")
    changed(part, files=[{"name": name, "text": "#error outside\n"} for name in names])


def make_of_a_task_that_is_not_timed(_submission, part, _file):
    changed(part, task="answers")

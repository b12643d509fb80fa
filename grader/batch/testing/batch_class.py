"""What the tests of `grader batch` share: a small class, and what a finished batch looks like."""

import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
SEED = 20261122

# Differ from run to run, as times do.
TIMES = {"graded_at", "build_s", "run_s", "imported_at"}
TIME_OF_DAY = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC")


def hand_in(folder, who, changes, files=("gemv.cu", "counters.cpp")):
    """A submission with some files of part 1, each put through `changes`."""
    target = folder / who / "part1-metrics"
    target.mkdir(parents=True)
    for name in files:
        text = (ROOT / "solutions/part1-metrics" / name).read_text()
        (target / name).write_text(changes(text))


def make_small_class(folder):
    """Three right submissions, two of them equal, and two wrong ones: it takes seconds to grade."""
    hand_in(folder, "ada", lambda text: text)
    hand_in(folder, "bob", lambda text: text + "// by bob\n")
    hand_in(folder, "cat", lambda text: text)
    hand_in(folder, "dan", lambda text: text.replace("return", "return 0 *", 1), files=("counters.cpp",))
    hand_in(folder, "eve", lambda text: text + "#error not yet\n", files=("gemv.cu",))


def batch_command(grader, submissions, out, *more):
    return [str(grader), "batch", str(submissions), "--out", str(out), "--part", "1", "--device", "sim:a100",
            "--seed", str(SEED), "--jobs", "2", *more]


def run_batch(command, timeout=600):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout)


def rows_of(database):
    """Every row of every table, without what is a time."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        result = {}
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"):
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})") if row[1] not in TIMES]
            result[table] = sorted(map(repr, connection.execute(f"SELECT {','.join(columns)} FROM {table}")))
        return result
    finally:
        connection.close()


def text_of(file):
    """What a file says; of an archive its entries, each with what it says."""
    if file.suffix != ".zip":
        return file.read_text(errors="replace")
    with zipfile.ZipFile(file) as archive:
        return "".join(f"{name}\n{archive.read(name).decode(errors='replace')}\n" for name in archive.namelist())


def files_of(out):
    """Every output by its name, without times of day."""
    result = {}
    for file in sorted(out.rglob("*")):
        name = file.relative_to(out).as_posix()
        if file.is_file() and name not in ("batch.sqlite", "batch.lock"):
            result[name] = TIME_OF_DAY.sub("TIME", text_of(file))
    return result


def differences(expected, got):
    """In words, what two batches differ in: pairs of rows_of and files_of."""
    lines = []
    for old, new in zip(expected, got):
        for name in sorted(old.keys() | new.keys()):
            if name not in old:
                lines.append(f"{name} is too much")
            elif name not in new:
                lines.append(f"{name} is missing")
            elif old[name] != new[name]:
                lines.append(f"{name} differs")
    return lines


def descendants(pid):
    """Every living process below `pid`, as (pid, start time), so that a reused number is another process."""
    parents, found = {}, {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry.name)] = (int(fields[1]), fields[19])
    frontier = {pid}
    while frontier:
        below = {child for child, (parent, _) in parents.items() if parent in frontier and child not in found}
        found.update((child, parents[child][1]) for child in below)
        frontier = below
    return set(found.items())


def is_alive(process):
    pid, started = process
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return fields[19] == started and fields[0] != "Z"


def wait_for_end(processes, seconds=10):
    """Those that are still there after so long."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        processes = {process for process in processes if is_alive(process)}
        if not processes:
            break
        time.sleep(0.05)
    return processes


def name_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder

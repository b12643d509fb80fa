"""What an attack left behind: processes, and files outside of its place."""

import ctypes
import os
import pathlib
import signal
import time

PR_SET_CHILD_SUBREAPER = 36
# Attacks that leave files name them so.
MARK = "rooflab_was_here"


def adopt_orphans():
    """Makes this process the parent of whatever a descendant leaves behind."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def children_of(process):
    found = []
    for task in pathlib.Path(f"/proc/{process}/task").glob("*/children"):
        try:
            found += [int(word) for word in task.read_text().split()]
        except OSError:
            continue
    return found


def is_alive(process):
    """Whether it still runs; those that ended and wait to be reaped do not."""
    try:
        state = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def surviving_processes(patience_s=2):
    """Command lines of what still runs below us once the grader is gone, which is then ended."""
    end = time.monotonic() + patience_s
    while True:
        alive = [child for child in children_of(os.getpid()) if is_alive(child)]
        if not alive or time.monotonic() > end:
            break
        time.sleep(0.01)
    lines = []
    for child in alive:
        try:
            lines.append(f"{child} " + pathlib.Path(f"/proc/{child}/cmdline").read_text().replace("\0", " "))
            os.kill(child, signal.SIGKILL)
        except OSError:
            continue
    return lines


def stray_files(places):
    """Files with the attacks' mark in these folders and in those that every program can see."""
    everybody = ["/", "/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run", "/run/shm", "/run/lock"]
    found = set()
    for place in [pathlib.Path(text) for text in everybody] + list(places):
        try:
            names = os.listdir(place)
        except OSError:
            continue
        found |= {str(place / name) for name in names if MARK in name}
    return sorted(found)

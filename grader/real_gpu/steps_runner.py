"""Runs steps one after the other, whatever becomes of each, and keeps what they said in one archive.

A step that fails, hangs, prints without end or leaves processes behind costs its own time and no more. The archive is
written anew whenever a step has ended, and when we are ended ourselves (SIGINT, SIGTERM, SIGHUP).
"""

import collections
import ctypes
import dataclasses
import os
import pathlib
import shlex
import signal
import subprocess
import time

PR_SET_CHILD_SUBREAPER = 36
SKIPPED = 77
HEAD_BYTES, TAIL_BYTES = 4 << 20, 1 << 20  # of what a step prints
RESERVE_S = 20  # for the archive at the end, of a long budget
PATIENCE_S = 5  # from SIGTERM to SIGKILL
ENDING_S = 20   # from SIGKILL to giving it up


@dataclasses.dataclass
class Step:
    """One thing to do: a command, or a function of ours that answers (whether it is good, text)."""
    name: str
    what: str
    command: list = None
    function: object = None
    limit_s: float = 60
    least_s: float = 5  # with less left, it is not begun
    environment: dict = dataclasses.field(default_factory=dict)
    when: object = None   # of the outcomes before it; None: always
    notes: object = None  # lines for the summary, after it ended
    free: bool = False    # its time is not the budget's


class Printed:
    """The beginning and the end of what a step prints, as much as there is room for."""

    def __init__(self):
        self.head, self.tail, self.size = bytearray(), collections.deque(), 0
        self.tail_size = 0

    def add(self, block):
        self.size += len(block)
        room = HEAD_BYTES - len(self.head)
        self.head += block[:room]
        if block[room:] and room < len(block):
            self.tail.append(block[max(room, 0):])
            self.tail_size += len(self.tail[-1])
        while self.tail_size > TAIL_BYTES + 65536:
            self.tail_size -= len(self.tail.popleft())

    def text(self):
        left_out = self.size - len(self.head) - self.tail_size
        gap = f"\n... {left_out} bytes left out ...\n".encode() if left_out > 0 else b""
        return bytes(self.head) + gap + b"".join(self.tail)


def children_of(process):
    found = []
    for task in pathlib.Path(f"/proc/{process}/task").glob("*/children"):
        try:
            found += [int(word) for word in task.read_text().split()]
        except OSError:
            pass
    return found


def descendants_of(process):
    found = children_of(process)
    for child in found:
        found += children_of(child)
    return found


def end_descendants(stuck):
    """Ends what a step left behind, which is ours by now: we adopt orphans. Returns what does not go, besides `stuck`."""
    end = time.monotonic() + ENDING_S
    while left := [process for process in descendants_of(os.getpid()) if process not in stuck]:
        for process in left:
            try:
                os.kill(process, signal.SIGKILL)
            except OSError:
                pass
            try:
                os.waitpid(process, os.WNOHANG)
            except OSError:
                pass
        if time.monotonic() > end:
            return left
        time.sleep(0.02)
    return []


class Runner:
    """@param save is called with the runner after each step, and must not fail."""

    def __init__(self, logs, budget_s, save, say=print):
        self.logs, self.save, self.print = logs, save, say
        self.stuck = set()  # processes that do not go
        self.outcomes = []
        self.stopped = 0  # by this signal
        self.budget_s, self.started = budget_s, time.monotonic()
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)

    def take_signals(self):
        """From here on, a signal ends the step at hand, and the run after it."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:  # as under nohup
                signal.signal(number, self.stop)

    def say(self, text):
        try:
            self.print(text)
        except OSError:  # the terminal is gone, and what is to be done is not
            pass

    def stop(self, number, _frame):
        self.stopped = self.stopped or number

    def used_s(self):
        return time.monotonic() - self.started

    def left_s(self):
        return self.budget_s - self.used_s() - min(RESERVE_S, self.budget_s / 10)

    def outcome_of(self, name):
        return next((outcome["outcome"] for outcome in self.outcomes if outcome["name"] == name), "")

    def run(self, steps):
        for number, step in enumerate(steps, 1):
            outcome = {"name": step.name, "what": step.what, "outcome": "", "exit_code": None, "seconds": 0.0,
                       "limit_s": 0.0, "command": shlex.join(map(str, step.command or [])), "log": "", "notes": []}
            began = time.monotonic()
            try:
                self.do(step, outcome)
            except Exception as error:  # ours: the next step is worth as much as before
                outcome.update(outcome="failed", notes=[f"{type(error).__name__}: {error}"])
            outcome["seconds"] = round(time.monotonic() - began, 1)
            if step.free:
                self.started += time.monotonic() - began
            self.outcomes.append(outcome)
            self.say(f"{number}/{len(steps)} {step.name}: {outcome['outcome']} in {outcome['seconds']:.0f} s")
            self.save(self)

    def do(self, step, outcome):
        left = step.limit_s if step.free else self.left_s()
        if self.stopped:
            outcome["outcome"] = "not begun: interrupted"
        elif step.when and not step.when(self):
            outcome["outcome"] = "not needed"
        elif left < step.least_s:
            outcome["outcome"] = "not begun: no time left"
        elif step.function:
            good, text = step.function()
            self.keep_log(step, outcome, text.encode())
            outcome["outcome"] = "passed" if good else "failed"
        elif not step.command:
            outcome["outcome"] = "failed"
            outcome["notes"] = ["there is no such test in this build"]
        else:
            outcome["limit_s"] = round(min(step.limit_s, left), 1)
            self.execute(step, outcome)
            if step.notes:
                outcome["notes"] += step.notes()

    def keep_log(self, step, outcome, text):
        outcome["log"] = f"logs/{step.name}.log"
        self.logs.mkdir(parents=True, exist_ok=True)
        (self.logs / f"{step.name}.log").write_bytes(text)

    def execute(self, step, outcome):
        printed = Printed()
        try:
            process = subprocess.Popen([str(word) for word in step.command], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
                                       env={**os.environ, **step.environment})
        except OSError as error:
            outcome.update(outcome="failed", exit_code=127, notes=[str(error)])
            return
        os.set_blocking(process.stdout.fileno(), False)
        word = self.await_end(process, outcome["limit_s"], printed)
        left = end_descendants(self.stuck)
        self.stuck.update(left)
        self.read(process, printed)
        process.stdout.close()
        self.keep_log(step, outcome, printed.text())
        if left:
            outcome["notes"].append(f"{len(left)} processes were still there {ENDING_S} s after SIGKILL")
        outcome["exit_code"] = process.returncode
        outcome["outcome"] = word or {0: "passed", SKIPPED: "skipped"}.get(process.returncode, "failed")

    def await_end(self, process, limit_s, printed):
        """Why it was ended; empty where it ended by itself."""
        end = time.monotonic() + limit_s
        word = ""
        while process.poll() is None and not word:
            self.read(process, printed)
            word = "interrupted" if self.stopped else "took too long" if time.monotonic() > end else ""
            time.sleep(0.02)
        for number, patience in ((signal.SIGTERM, PATIENCE_S), (signal.SIGKILL, ENDING_S)):
            until = time.monotonic() + patience
            if process.poll() is None:
                os.killpg(process.pid, number)
            while process.poll() is None and time.monotonic() < until:
                self.read(process, printed)
                time.sleep(0.02)
        return word

    @staticmethod
    def read(process, printed):
        for _ in range(64):  # endless output must not keep us from the clock
            try:
                block = os.read(process.stdout.fileno(), 65536)
            except BlockingIOError:
                return
            if not block:
                return
            printed.add(block)

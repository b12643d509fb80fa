"""Running other programs, with limits: what they print is kept up to a size, and they end with the cell."""

import dataclasses
import os
import signal
import subprocess
import threading

from rooflab.errors import RooflabError

MOST_BYTES = 256 * 1024  # of each output that is kept
GRACE_S = 5  # for a program that was told to end


@dataclasses.dataclass(frozen=True)
class Ran:
    code: int  # negative: ended by that signal
    out: str
    error: str
    timed_out: bool = False


class _Reader(threading.Thread):
    """Keeps the beginning of what comes through a pipe, and reads all of it: a full pipe would stop the program."""

    def __init__(self, pipe, most):
        super().__init__(daemon=True)
        self._pipe, self._most, self._kept, self._dropped = pipe, most, bytearray(), 0
        self.start()

    def run(self):
        while data := self._pipe.read1(65536):
            room = max(0, self._most - len(self._kept))
            self._kept += data[:room]
            self._dropped += max(0, len(data) - room)

    def text(self):
        # A child that the program left behind may hold the pipe: what has come by now is what there is.
        self.join(1)
        text = bytes(self._kept).decode("utf-8", "replace")
        return text + f"\n(and {self._dropped} bytes more)\n" if self._dropped else text


def _end(process):
    """Tells the program and its children to end, and sees to it."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass
        try:
            process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            continue
        if number == signal.SIGKILL:
            return


def run(command, timeout_s, folder=None, most=MOST_BYTES):
    """Runs a program until it ends, `timeout_s` is over or the cell is interrupted."""
    try:
        process = subprocess.Popen([str(word) for word in command], cwd=folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    except OSError as error:
        raise RooflabError(f"{command[0]} cannot be started: {error.strerror}") from error
    out, error = _Reader(process.stdout, most), _Reader(process.stderr, most)
    timed_out = False
    try:
        process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        timed_out = True
    finally:  # whatever ends the cell ends the program
        _end(process)
    return Ran(process.returncode, out.text(), error.text(), timed_out)

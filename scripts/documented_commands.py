"""The commands that documentation shows."""

import re

BLOCK = re.compile(r"^ *```(sh|yaml)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
STEP = re.compile(r"^[ -]*run: (.+)$", re.MULTILINE)
COMMENT = re.compile(r"(^|\s+)#.*$")


def commands_of(text):
    """The commands in the ```sh and ```yaml blocks of a document, without comments."""
    for kind, block in BLOCK.findall(text):
        for line in block.splitlines() if kind == "sh" else STEP.findall(block):
            command = COMMENT.sub("", line).strip()
            if command:
                yield command


def allowed_codes(command):
    """How a command may end: a grade also with 1, which says that some task did not pass."""
    return {0, 1} if command.startswith("build/bin/grader --part") else {0}

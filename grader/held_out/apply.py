#!/usr/bin/env python3
"""Makes a submission of every mistake of a held-out set.

    grader/held_out/apply.py grader/held_out/fourth OUT

OUT/<mistake>/ gets the layout of starter/: the starter's files of the mistake's part, over them the set's bases of the
task's file and of the files that it uses, and the edits in the one that the mistake names. Exits 1 and says what is
amiss when a text to find does not occur exactly once, or when the wrong line is not in the edited file.
"""

import argparse
import pathlib
import shutil
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
KEYS = {"part", "task", "file", "cause", "line", "second_cause", "second_line", "edit"}


class Amiss(Exception):
    """What is wrong with a mistake, in words for its author."""


def part_of(number):
    """The folder name of a part, and the files that each of its tasks needs."""
    (description,) = ROOT.glob(f"labs/part{number}-*/part.toml")
    tasks = tomllib.loads(description.read_text())["task"]
    return description.parent.name, {t["id"]: [t["file"], *t.get("uses", [])] for t in tasks if "file" in t}


def edited(base, mistake):
    """The text of the base after all edits, in their order."""
    text = base
    for edit in mistake["edit"]:
        count = text.count(edit["find"])
        if count != 1:
            raise Amiss(f"occurs {count} times instead of once: {edit['find']!r}")
        text = text.replace(edit["find"], edit["replace"])
    lines = [line.strip() for line in text.splitlines()]
    for key in ("line", "second_line"):
        if key in mistake and lines.count(mistake[key]) != 1:
            raise Amiss(f"{key} is in the edited file {lines.count(mistake[key])} times instead of once: {mistake[key]!r}")
    return text


def make(folder, out):
    """Writes the submission of the mistake in `folder` to out/<its name>/, in place of an earlier one."""
    shutil.rmtree(out / folder.name, ignore_errors=True)
    mistake = tomllib.loads((folder / "mistake.toml").read_text())
    unknown = mistake.keys() - KEYS
    if unknown:
        raise Amiss(f"has keys that mean nothing: {', '.join(sorted(unknown))}")
    part, files = part_of(mistake["part"])
    needed = files[mistake["task"]]
    if mistake["file"] not in needed:
        raise Amiss(f"{mistake['file']} is no file of task {mistake['task']}")

    bases = folder.parent / "base" / part
    text = edited((bases / mistake["file"]).read_text(), mistake)
    submission = out / folder.name / part
    shutil.copytree(ROOT / "starter" / part, submission)
    for name in needed:
        if (bases / name).exists():
            shutil.copyfile(bases / name, submission / name)
    (submission / mistake["file"]).write_text(text)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("set", type=pathlib.Path, help="the set's folder")
    arguments.add_argument("out", type=pathlib.Path, help="where the submissions go; what an earlier run left is replaced")
    chosen = arguments.parse_args()

    mistakes = sorted(path.parent for path in chosen.set.resolve().glob("*/mistake.toml"))
    failures = 0
    for folder in mistakes:
        try:
            make(folder, chosen.out)
        except (Amiss, KeyError, OSError, tomllib.TOMLDecodeError) as problem:
            print(f"{folder.name}: {problem}")
            failures += 1
    print(f"{len(mistakes) - failures} of {len(mistakes)} mistakes applied")
    return 1 if failures or not mistakes else 0


if __name__ == "__main__":
    sys.exit(main())

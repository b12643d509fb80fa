#!/usr/bin/env python3
"""Grades every mistake of a held-out set, and says what the grader says first of each, beside its cause.

    grader/held_out/tell.py grader/held_out/fourth OUT [--build build] [--gpu a100] [--only part1] [--jobs 2]

OUT gets the submissions (see apply.py) and OUT/told.json what was said. A person reads it: only somebody who knows the cause can
tell whether the words name it.
"""

import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import time
import tomllib

import apply

ROOT = pathlib.Path(__file__).resolve().parents[2]


def told(mistake, submission, grader, gpu):
    """What the grader says of a submission: code, message, place and help of its first story, and how long it took."""
    report = submission / "grade.json"
    begin = time.monotonic()
    run = subprocess.run(
        [grader, "--part", str(mistake["part"]), "--task", mistake["task"], "--submission", submission, "--device",
         f"sim:{gpu}", "--json", report], capture_output=True, text=True)
    seconds = time.monotonic() - begin
    if not report.exists():
        return {"verdict": "none", "message": run.stdout[-500:] + run.stderr[-500:], "seconds": seconds}
    task = json.loads(report.read_text())["tasks"][0]
    stories = task["diagnostics"] or [{}]
    first = stories[0]
    return {"verdict": task["verdict"], "score": task["score"], "max_score": task["max_score"], "code": first.get("code"),
            "message": first.get("message"), "line": first.get("line"), "help": first.get("help"),
            "others": [f"{story['code']} {story['message']}" for story in stories[1:]], "seconds": seconds}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("set", type=pathlib.Path)
    arguments.add_argument("out", type=pathlib.Path)
    arguments.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    arguments.add_argument("--gpu", default="a100")
    arguments.add_argument("--only", default="", help="mistakes whose names begin so")
    arguments.add_argument("--jobs", type=int, default=2)
    chosen = arguments.parse_args()

    mistakes = {}
    for file in sorted(chosen.set.resolve().glob("*/mistake.toml")):
        if file.parent.name.startswith(chosen.only):
            mistakes[file.parent.name] = tomllib.loads(file.read_text())
    for name in mistakes:
        apply.make(chosen.set.resolve() / name, chosen.out)
    with concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool:
        runs = {name: pool.submit(told, mistake, (chosen.out / name).resolve(), chosen.build.resolve() / "bin" / "grader", chosen.gpu)
                for name, mistake in mistakes.items()}
        results = {}
        for name, run in runs.items():
            results[name] = {"cause": mistakes[name]["cause"], **run.result()}
            one = results[name]
            print(f"{name} [{mistakes[name]['task']}] {one['verdict']} {one.get('score')}/{one.get('max_score')}, "
                  f"{one['seconds']:.1f} s\n  cause: {one['cause']}\n  said:  {one.get('code')} {one['message']}"
                  f"\n         {one.get('help')}", flush=True)
    (chosen.out / "told.json").write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

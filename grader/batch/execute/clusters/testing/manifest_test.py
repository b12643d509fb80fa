#!/usr/bin/env python3
"""Holds the Kubernetes manifest against Kubernetes's own schemas, as PyPI's kubernetes-validate carries them.

manifest_test.py PROGRAM, which is stand_in_cluster_grader. Exits with 77 where kubernetes-validate is not in PATH.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
VERSIONS = ("1.31.0", "1.33.0", "1.37.0")  # the first in which every field used is stable or on by default
ARGUMENTS = ("--image=registry/rooflab:1", "--claim=class")
VARIANTS = {"plain": ARGUMENTS,
            "gpu": (*ARGUMENTS, "--gpus=1", "--namespace=course", "--sub-path=autumn/part 1", "--cpus=4")}


def main():
    validate = shutil.which("kubernetes-validate")
    if validate is None:
        print("skipped: kubernetes-validate is not in PATH (python3 -m pip install kubernetes-validate)")
        return SKIPPED
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for variant, arguments in VARIANTS.items():
            manifest = pathlib.Path(folder) / f"{variant}.yaml"
            printed = subprocess.run([sys.argv[1], "manifest", *arguments], check=True, stdout=subprocess.PIPE)
            manifest.write_bytes(printed.stdout)
            for version in VERSIONS:
                command = [validate, "--strict", "-k", version, str(manifest)]
                outcome = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
                print(outcome.stdout, end="")
                failures += outcome.returncode != 0
            # That the schema would tell: a field that is not there, and a word for a number.
            for good, bad in (("completionMode", "completionMood"), ("parallelism: 20", "parallelism: many")):
                manifest.write_bytes(printed.stdout.replace(good.encode(), bad.encode()))
                command = [validate, "--strict", "-k", VERSIONS[0], str(manifest)]
                outcome = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
                if outcome.returncode == 0:
                    print(f"{bad} was taken for valid")
                    failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

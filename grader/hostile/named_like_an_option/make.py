from harness.checkout import PART
from harness.collection import write_honest_files


def make_entry(submissions, name):
    part = submissions / f"--no-sandbox --out=$(touch rooflab_was_here) {name}" / PART
    part.mkdir(parents=True)
    write_honest_files(part)

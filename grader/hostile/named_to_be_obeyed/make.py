import os

from harness.checkout import PART
from harness.collection import write_honest_files


def make_entry(submissions, name):
    called = b"=cmd|' C calc'!A0 \x1b[2J\x1b]0;x\x07<script>alert(1)<b onload=x>\xff\xe2\x80\xae " + name.encode()
    part = submissions / os.fsdecode(called) / PART
    part.mkdir(parents=True)
    write_honest_files(part)

import os


def make(submission, part, file):
    folder = os.fsencode(part)
    for name in (b"\x1b[2J.cu", b"=cmd|' C calc'!A0.cpp", b"-fplugin=x.cpp", b"<script>alert(1)<.cu", b"\xff\xfe.cu",
                 b"...", b" ", b"a\nb.cu", b"$(touch rooflab_was_here).cpp", b"`touch rooflab_was_here`.h",
                 b"n" * 255):
        with open(folder + b"/" + name, "wb") as opened:
            opened.write(b"#error strange")

NAMES = ["../../rooflab_was_here", "=cmd|' /C calc'!A1", "<script>alert(1)</script>", "\x1b[2J", "\u202e$(touch rooflab_was_here)",
         "a" * 100_000, "{n} %s%n {}"]


def make(_submission, _part, file):
    named = "".join(f"student = '''{name}'''\n" for name in NAMES)
    file.write_text(named + file.read_text())

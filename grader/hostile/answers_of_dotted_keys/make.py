def make(_submission, _part, file):
    dots = "a" + ".a" * 80_000
    file.write_text(f"{dots} = 1\n" + file.read_text() + f"[{dots}]\nb = 1\n")

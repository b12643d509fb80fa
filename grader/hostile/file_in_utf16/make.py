def make(submission, part, file):
    file.write_text(file.read_text(), encoding="utf-16")

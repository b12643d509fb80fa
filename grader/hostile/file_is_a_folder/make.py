def make(submission, part, file):
    file.unlink()
    file.mkdir()

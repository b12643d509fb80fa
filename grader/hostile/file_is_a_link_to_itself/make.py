def make(submission, part, file):
    file.unlink()
    file.symlink_to(file.name)

def make(submission, _part, _file):
    (submission / "student.toml").write_text("a" + ".a" * 8_000 + " = 1\n")

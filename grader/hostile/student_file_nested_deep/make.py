def make(submission, _part, _file):
    (submission / "student.toml").write_text("id = " + "[" * 15_000)

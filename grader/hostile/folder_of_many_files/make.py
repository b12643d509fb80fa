def make(submission, part, file):
    deep = part
    for level in range(200):
        deep = deep / "d"
        deep.mkdir()
    for number in range(10_000):
        (part / f"extra{number}.h").touch()

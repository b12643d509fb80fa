def make(submission, part, file):
    name = "a" * 900_000
    file.write_text(f"int use = {name};\n" + file.read_text())

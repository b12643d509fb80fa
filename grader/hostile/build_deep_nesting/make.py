def make(submission, part, file):
    file.write_text("long use = " + "(" * 200_000 + "1" + ")" * 200_000 + ";\n" + file.read_text())

def make(submission, part, file):
    file.write_bytes(b"// \0\n" + file.read_bytes())

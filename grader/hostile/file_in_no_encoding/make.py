def make(submission, part, file):
    file.write_bytes(b"// \xff\xfe\x80 \x1b[2J \x0c\n#error \xc3( \x1b]0;x\x07 \xe2\x80\xae <b>\n" + file.read_bytes())

import os


def write(submission, text):
    (submission / "student.toml").write_bytes(text.encode() if isinstance(text, str) else text)


def make_inline_tables(submission, _part, _file):
    write(submission, "id = " + "{ a = " * 2_700)


def make_quoted_parts(submission, _part, _file):
    write(submission, '""' + '.""' * 5_000 + " = 1")


def make_array_of_tables(submission, _part, _file):
    write(submission, "[[a" + ".a" * 8_000 + "]]")


def make_open_string(submission, _part, _file):
    write(submission, 'name = """' + "x\n" * 5_000)


def make_zero_bytes(submission, _part, _file):
    write(submission, b'id = "a\0b"\nname = "c"\n')


def make_no_encoding(submission, _part, _file):
    write(submission, b'name = "\xff\xfe\xc0\xaf\xed\xa0\x80"\n')


def make_too_large(submission, _part, _file):
    write(submission, "# " + "x" * 900_000 + '\nid = "1"\n')


def make_huge_number(submission, _part, _file):
    write(submission, "id = " + "9" * 15_000)


def make_date_for_an_id(submission, _part, _file):
    write(submission, "id = 9999-12-31T23:59:60.999999999+23:59\nname = inf\nemail = [[], {}]\n")


def make_lines_in_a_name(submission, _part, _file):
    write(submission, 'id = "1\\n2\\n3"\nname = "right_00\\nright_00\\nright_00\\n"\n')


def make_claims_another(submission, _part, _file):
    write(submission, 'id = "right_00"\nname = "right_00"\nemail = "right_00"\n')


def make_is_a_link(submission, _part, _file):
    os.symlink("/etc/passwd", submission / "student.toml")


def make_is_a_pipe(submission, _part, _file):
    os.mkfifo(submission / "student.toml")


def make_is_a_folder(submission, _part, _file):
    (submission / "student.toml" / "student.toml").mkdir(parents=True)

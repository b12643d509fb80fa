import os


def write(part, text):
    (part / "hints_used.toml").write_bytes(text.encode() if isinstance(text, str) else text)


def make_nested(_submission, part, _file):
    write(part, "counters = " + "[" * 16_000)


def make_dotted(_submission, part, _file):
    write(part, "a" + ".a" * 8_000 + " = 1")


def make_negative(_submission, part, _file):
    write(part, "counters = -9223372036854775808\ngemm_naive = 9223372036854775807\nanswers = 4\n")


def make_no_numbers(_submission, part, _file):
    write(part, "counters = nan\ngemm_naive = { a = 1 }\nanswers = 1979-05-27\n")


def make_too_large(_submission, part, _file):
    write(part, "# " + "x" * 900_000 + "\ncounters = 1\n")


def make_zero_bytes(_submission, part, _file):
    write(part, b"counters = 1\0\n")


def make_is_a_link(_submission, part, _file):
    os.symlink("/dev/zero", part / "hints_used.toml")


def make_is_a_pipe(_submission, part, _file):
    os.mkfifo(part / "hints_used.toml")

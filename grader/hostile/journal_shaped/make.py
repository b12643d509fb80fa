import os

RUN = '{ time = %s, task = "%s", verdict = "pass", points = %s, of = 20.0, hints = 0, codes = [] }'


def write(part, text):
    (part / "journal.toml").write_bytes(text.encode() if isinstance(text, str) else text)


def make_nested(_submission, part, _file):
    write(part, "run = " + "[" * 16_000)


def make_dotted(_submission, part, _file):
    write(part, "a" + ".a" * 8_000 + " = 1")


def make_impossible(_submission, part, _file):
    runs = [RUN % ("2026-11-30T12:00:00Z", "counters", "1e300"), RUN % ("0001-01-01T00:00:00Z", "counters", "20.0"),
            RUN % ("2026-11-30T12:00:00Z", "<script>", "20.0"), RUN % ("nan", "counters", "nan")]
    write(part, "run = [" + ", ".join(runs) + "]\n")


def make_endless(_submission, part, _file):
    write(part, "run = [" + "\n, ".join([RUN % ("2026-11-30T12:00:00Z", "counters", "1.0")] * 1_000) + "]\n")


def make_too_large(_submission, part, _file):
    write(part, "# " + "x" * 900_000 + "\nrun = []\n")


def make_zero_bytes(_submission, part, _file):
    write(part, b"run = []\0\n")


def make_is_a_link(_submission, part, _file):
    os.symlink("/dev/zero", part / "journal.toml")


def make_is_a_pipe(_submission, part, _file):
    os.mkfifo(part / "journal.toml")

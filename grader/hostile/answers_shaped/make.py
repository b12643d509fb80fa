import re


def with_lines_before(file, text):
    file.write_text(text + "\n" + file.read_text())


def answered(file, values):
    """The file with other answers: a text for a question, without its quotes."""
    text = file.read_text()
    for key, value in values.items():
        text = re.sub(rf"^{key} = .*$", lambda _, key=key, value=value: f"{key} = {value}", text, flags=re.MULTILINE)
    file.write_text(text)


def make_inline_tables(_submission, _part, file):
    answered(file, {"ridge_fp32": "{ a = " * 120_000})


def make_array_of_tables(_submission, _part, file):
    with_lines_before(file, "[[a" + ".a" * 100_000 + "]]\nb = 1")


def make_quoted_parts(_submission, _part, file):
    with_lines_before(file, '""' + '.""' * 100_000 + " = 1")


def make_dotted_inside(_submission, _part, file):
    answered(file, {"gemv_intensity": "[{ a" + ".a" * 10_000 + " = [" * 10_000})


def make_open_string(_submission, _part, file):
    with_lines_before(file, 'a = """')


def make_quotes_alone(_submission, _part, file):
    with_lines_before(file, '"' * 500_000)


def make_backslashes(_submission, _part, file):
    answered(file, {"sparse_peak": '"' + "\\" * 500_000})


def make_one_line(_submission, _part, file):
    file.write_text(file.read_text().replace("\n", " ") + "x" * 900_000)


def make_old_ends(_submission, _part, file):
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r"))


def make_huge_numbers(_submission, _part, file):
    answered(file, {"ridge_fp32": "1e" + "9" * 1000, "ridge_bf16": "0x" + "f" * 10_000,
                    "gemv_intensity": "1" + "_1" * 50_000, "gemm_intensity": "9999-99-99T99:99:99Z",
                    "mlp_time": "-" * 10_000 + "1", "t4_utilisation": "nan"})


def make_every_key_twice(_submission, _part, file):
    text = file.read_text()
    file.write_text(text + "[answers]\n" + text)


def make_marks_inside(_submission, _part, file):
    with_lines_before(file, '"\\ufeff\\ud800\\u0000" = 1\n\ufeffridge_fp32 = 1')


def make_look_alikes(_submission, _part, file):
    with_lines_before(file, "ridg\u0435_a100_fp32 = 12.54\n" * 10_000)


def make_lists_for_numbers(_submission, _part, file):
    answered(file, {key: "[" + ", ".join(str(n / 100) for n in range(2000)) + "]"
                    for key in ("ridge_fp32", "ridge_bf16", "gemv_intensity")})

import re


def make(_submission, _part, file):
    text = re.sub(r"^ridge_fp32 = .*$", "ridge_fp32 = " + "9" * 100_000, file.read_text(), flags=re.MULTILINE)
    file.write_text(text + "gemv_intensity = 1\n" * 3_000)

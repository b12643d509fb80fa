import re


def make(_submission, _part, file):
    deep = {"ridge_fp32": "[" * 120_000, "ridge_bf16": "{ a = " * 5_000, "gemv_intensity": "[" * 20_000 + "]" * 20_000}
    text = file.read_text()
    for key, value in deep.items():
        text = re.sub(rf"^{key} = .*$", lambda _, key=key, value=value: f"{key} = {value}", text, flags=re.MULTILINE)
    file.write_text(text)

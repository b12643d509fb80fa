import re


def make(_submission, _part, file):
    text = re.sub(r"^estimate_and_measurement = (.|\n)*", "", file.read_text(), flags=re.MULTILINE)
    file.write_text(text + "estimate_and_measurement = \"\"\"=cmd|' /C calc'!A1\n@SUM(1)\n\x1b[2J\u202e<script>alert(1)</script>\r\n\"a\n")

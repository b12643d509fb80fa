"""Whether the reports of a grade say what they must, and nothing that they must not."""

import html.parser
import json
import re

# What a terminal obeys: control characters but newline and tab, those of Latin-1's upper half, and marks that turn
# the direction of text.
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
ALLOWED_TAGS_WITHOUT_CARE = {"script", "img", "iframe", "object", "embed", "link", "base", "form", "meta"}


class Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))


def count_of_active_tags(text):
    parser = Tags()
    parser.feed(text)
    active = {}
    for tag, attributes in parser.seen:
        if tag in ALLOWED_TAGS_WITHOUT_CARE:
            active[tag] = active.get(tag, 0) + 1
        for name in attributes:
            if name.startswith("on"):
                active[name] = active.get(name, 0) + 1
    return active


class Reports:
    """What one run of the grader wrote."""

    def __init__(self, folder, exit_code, printed):
        self.exit_code = exit_code
        self.printed = printed
        self.json_bytes = self.read(folder / "grade.json")
        self.html_bytes = self.read(folder / "grade.html")
        self.document = None

    @staticmethod
    def read(file):
        return file.read_bytes() if file.exists() else b""

    def task(self, name):
        return next(task for task in self.document["tasks"] if task["id"] == name)

    def parse(self):
        """Reads the documents; returns what is wrong with them."""
        faults = []
        texts = {"terminal": self.printed, "JSON": self.json_bytes, "HTML": self.html_bytes}
        decoded = {}
        for name, data in texts.items():
            try:
                decoded[name] = data.decode("utf-8")
            except UnicodeDecodeError as error:
                faults.append(f"the {name} is not UTF-8: {error}")
                decoded[name] = data.decode("utf-8", "replace")
            obeyed = OBEYED.search(decoded[name])
            if obeyed:
                faults.append(f"the {name} has a control character {obeyed.group()!r} in it")
        if self.json_bytes:
            try:
                self.document = json.loads(decoded["JSON"], parse_constant=lambda word: faults.append(f"JSON has {word}"))
            except ValueError as error:
                faults.append(f"the JSON cannot be parsed: {error}")
        self.html = decoded["HTML"]
        return faults

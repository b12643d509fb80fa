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


def text_faults(name, data):
    """The text, and why it may not be shown as it is."""
    faults = []
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        faults.append(f"the {name} is not UTF-8: {error}")
        text = data.decode("utf-8", "replace")
    obeyed = OBEYED.search(text)
    if obeyed:
        faults.append(f"the {name} has a control character {obeyed.group()!r} in it")
    return text, faults


def json_faults(name, text):
    """The document, and why others could not read it."""
    faults = []
    try:
        document = json.loads(text, parse_constant=lambda word: faults.append(f"the {name} has {word} in it"))
    except ValueError as error:
        return None, [f"the {name} cannot be parsed: {error}"]
    return document, faults


def has_more_active_html(text, right):
    return any(count > right.get(tag, 0) for tag, count in count_of_active_tags(text).items())


class Reports:
    """What one run of the grader wrote."""

    def __init__(self, folder, exit_code, printed):
        self.exit_code = exit_code
        self.bytes = {"terminal": printed, "JSON": self.read(folder / "grade.json"),
                      "HTML": self.read(folder / "grade.html")}
        self.texts = {}
        self.document = None

    @staticmethod
    def read(file):
        return file.read_bytes() if file.exists() else b""

    def task(self, name):
        return next(task for task in self.document["tasks"] if task["id"] == name)

    def parse(self):
        """Reads the documents; returns what is wrong with them."""
        faults = []
        for name, data in self.bytes.items():
            self.texts[name], more = text_faults(name, data)
            faults += more
        if self.texts["JSON"]:
            self.document, more = json_faults("JSON", self.texts["JSON"])
            faults += more
        return faults

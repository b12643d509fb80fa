"""What a run saw, as one archive that may be given away: summary, logs and results, without names of persons or places."""

import getpass
import io
import json
import os
import pathlib
import re
import socket
import tarfile

MOST_BYTES = 60 << 20
FOLDER = "rooflab-gpu-results"
LEFT_OUT = (".html", ".so", ".o")  # pages say what their JSON says; programs are ours
PACKED = (".xz", ".gz", ".png")
EVERYBODYS_NAMES = {"root", "user", "ubuntu", "debian", "localhost", "host", "admin", "student", "test", "gpu", "cuda",
                    "nvidia", "jovyan", "runner"}
NUMBERS = re.compile(r"\b(GPU|MIG)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
SERIAL = re.compile(r"^(\s*(?:Serial Number|Board Part Number|GPU Part Number)\s*:).*$", re.MULTILINE)


class Scrubber:
    """Replaces what names a person, a machine or a card: folders, the user, the host, the GPU's UUID and serial number."""

    def __init__(self, folders):
        self.places = [(str(folder), f"<{name}>") for name, folder in folders.items()]
        self.places.append((str(pathlib.Path.home()), "~"))
        self.places = sorted((place for place in self.places if len(place[0]) > 1), key=lambda one: -len(one[0]))
        try:
            user = getpass.getuser()
        except (KeyError, OSError):
            user = ""
        host = socket.gethostname()
        names = {user: "<user>", host: "<host>", host.partition(".")[0]: "<host>", os.environ.get("SUDO_USER", ""): "<user>"}
        self.names = [(re.compile(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])"), word)
                      for name, word in names.items() if len(name) > 2 and name not in EVERYBODYS_NAMES]

    def text(self, text):
        for place, word in self.places:
            text = text.replace(place, word)
        text = NUMBERS.sub(r"\1-<number>", SERIAL.sub(r"\1 <number>", text))
        for pattern, word in self.names:
            text = pattern.sub(word, text)
        return text

    def bytes(self, content, name):
        if name.endswith(PACKED):
            return content
        return self.text(content.decode("utf-8", "replace")).encode()


def markdown(summary):
    """The summary for people."""
    lines = [f"# {summary['title']}", ""]
    lines += [f"- {key}: {value}" for key, value in summary["machine"].items() if isinstance(value, str)]
    for gpu in summary["machine"].get("gpus", []):
        lines.append("- GPU: " + ", ".join(f"{key} {value}" for key, value in gpu.items()))
    lines += ["", f"Begun {summary['begun']}, {summary['seconds']:.0f} s of {summary['budget_s']:.0f} s used"
              + (f", ended by signal {summary['ended_by_signal']}" if summary["ended_by_signal"] else "") + ".", "",
              "| step | outcome | exit code | seconds | what |", "|---|---|---|---|---|"]
    for step in summary["steps"]:
        code = "" if step["exit_code"] is None else step["exit_code"]
        lines.append(f"| {step['name']} | {step['outcome']} | {code} | {step['seconds']:.1f} | {step['what']} |")
    for step in summary["steps"]:
        if step["notes"]:
            lines += ["", f"## {step['name']}", ""] + [f"- {note}" for note in step["notes"]]
    return "\n".join(lines) + "\n"


def size_of(file):
    try:
        return file.stat().st_size
    except OSError:
        return 0


def found_in(folder):
    """Plain files below a folder, the largest last."""
    files = [file for file in folder.rglob("*") if file.is_file() and not file.is_symlink()
             and not file.name.endswith(LEFT_OUT)]
    return sorted(files, key=size_of)


def add(out, name, content):
    member = tarfile.TarInfo(f"{FOLDER}/{name}")  # owned by nobody, of no time
    member.size = len(content)
    out.addfile(member, io.BytesIO(content))


def write_once(archive, summary, files, folder, scrubber, preset):
    with tarfile.open(archive, "w:xz", preset=preset) as out:
        add(out, "summary.json", scrubber.text(json.dumps(summary, indent=1)).encode() + b"\n")
        add(out, "summary.md", scrubber.text(markdown(summary)).encode())
        for file in files:
            name = str(file.relative_to(folder))
            try:
                content = file.read_bytes()
            except OSError:  # a step's own, which it has removed meanwhile
                continue
            add(out, scrubber.text(name), scrubber.bytes(content, name))


def write(archive, summary, folder, scrubber, preset=1, most_bytes=MOST_BYTES):
    """Puts summary and all below `folder` into `archive`, whole or not at all; leaves out the largest where it has no room."""
    files = found_in(folder)
    left_out = []
    part = archive.with_name(archive.name + ".part")
    archive.parent.mkdir(parents=True, exist_ok=True)
    while True:
        write_once(part, {**summary, "left_out": left_out}, files, folder, scrubber, preset)
        if part.stat().st_size <= most_bytes or not files:
            break
        left_out.append(str(files.pop().relative_to(folder)))
    os.replace(part, archive)

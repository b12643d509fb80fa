"""The attacks, each a folder with an attack.toml, and the submissions that are made of them."""

import importlib.util
import pathlib
import shutil
import tomllib

from harness.checkout import PART, ROOT, SETTINGS, TASKS

FOLDER = pathlib.Path(__file__).resolve().parents[1]
KEYS = {"story", "task", "verdict", "code", "max_score", "thorough", "prepend", "append", "edit", "exit", "says",
        "never_says", "needs", "others"}
NOT_SUBMITTED = {"attack.toml", "make.py", "__pycache__"}


class Attack:
    def __init__(self, folder):
        table = tomllib.loads((folder / "attack.toml").read_text())
        unknown = set(table) - KEYS
        if unknown:
            raise SystemExit(f"{folder.name}/attack.toml has keys that nobody reads: {sorted(unknown)}")
        self.folder = folder
        self.name = folder.name
        self.story = table["story"]
        self.task = table["task"]
        self.verdicts = [table["verdict"]] if isinstance(table["verdict"], str) else table["verdict"]
        self.codes = [table["code"]] if isinstance(table.get("code", []), str) else table.get("code", [])
        self.max_score = table.get("max_score", 0)
        self.thorough = table.get("thorough", False)
        self.exit = table.get("exit")
        self.says = table.get("says", "")
        self.never_says = table.get("never_says", [])
        self.needs = table.get("needs", [])  # layers of the sandbox
        self.others = table.get("others", True)  # whether the other tasks' files are right
        self.table = table

    def write_submission(self, submission):
        """The submission as it is handed in: right but for what the attack does."""
        part = submission / PART
        part.mkdir(parents=True)
        write_honest_files(part)
        file = part / SETTINGS["tasks"][self.task]["file"]
        text = file.read_text()
        for edit in self.table.get("edit", []):
            if text.count(edit["find"]) != 1:
                raise SystemExit(f"{self.name}: an edit must match exactly one place: {edit['find']}")
            text = text.replace(edit["find"], edit["replace"])
        file.write_text(self.table.get("prepend", "") + text + self.table.get("append", ""))
        for own in self.folder.iterdir():
            if own.name not in NOT_SUBMITTED:
                shutil.copy(own, part / own.name)
        if (self.folder / "make.py").exists():
            spec = importlib.util.spec_from_file_location(f"make_{self.name}", self.folder / "make.py")
            maker = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(maker)
            maker.make(submission, part, file)


def write_honest_files(part):
    for task in TASKS:
        name = SETTINGS["tasks"][task]["file"]
        shutil.copy(ROOT / "solutions" / PART / name, part / name)


def all_attacks():
    return [Attack(entry.parent) for entry in sorted(FOLDER.glob("*/attack.toml"))]

"""The attacks, each a folder with an attack.toml, and the submissions that are made of them."""

import importlib.util
import json
import pathlib
import shutil
import tomllib

from harness.checkout import PART, ROOT, SETTINGS, TASKS

FOLDER = pathlib.Path(__file__).resolve().parents[1]
# A table `variant.<name>` has keys that replace those of the others: one attack in several shapes.
KEYS = {"variant", "story", "task", "verdict", "code", "max_score", "thorough", "prepend", "append", "edit", "says", "never_says",
        "needs", "in_class", "simulated", "on_gpu"}
LOGGED_RUNS = "worklog_runs.json"
NOT_SUBMITTED = {"attack.toml", "make.py", "__pycache__"}


def tables_of(folder):
    """The attacks of a folder: their names, and what attack.toml says of each."""
    table = tomllib.loads((folder / "attack.toml").read_text())
    variants = table.pop("variant", None)
    if variants is None:
        return {folder.name: table}
    return {f"{folder.name}_{name}": {**table, **own} for name, own in variants.items()}


class Attack:
    def __init__(self, folder, name, table):
        unknown = set(table) - KEYS
        if unknown:
            raise SystemExit(f"{folder.name}/attack.toml has keys that nobody reads: {sorted(unknown)}")
        self.folder = folder
        self.name = name
        self.is_first_shape = name == next(iter(tables_of(folder)))
        self.story = table["story"]
        self.task = table.get("task", TASKS[0])
        self.verdicts = as_list(table["verdict"])
        self.codes = as_list(table.get("code", []))
        self.in_class = as_list(table.get("in_class", self.verdicts))
        self.max_score = table.get("max_score", 0)
        self.thorough = table.get("thorough", False)
        self.says = table.get("says", "")
        self.never_says = table.get("never_says", [])
        self.simulated = table.get("simulated", False)
        on_gpu = table.get("on_gpu", {})
        self.verdicts_on_gpu = self.verdicts + as_list(on_gpu.get("verdict", []))
        self.max_score_on_gpu = on_gpu.get("max_score", self.max_score)
        self.needs = table.get("needs", [])  # layers of the sandbox
        self.maker = self.load_maker()
        # Archives, and names that only a class has.
        self.only_in_class = self.made_by("make_entry") is not None
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
        if make := self.made_by("make"):
            make(submission, part, file)

    def write_entry(self, submissions):
        """The submission as one of a class: a folder, or whatever `make_entry` makes."""
        if self.only_in_class:
            self.made_by("make_entry")(submissions, self.name)
        else:
            self.write_submission(submissions / self.name)

    def made_by(self, function):
        """The function of make.py, that of the variant where there is one of its own: make_deep of the variant deep."""
        variant = self.name[len(self.folder.name):]
        return getattr(self.maker, function + variant, None) or getattr(self.maker, function, None)

    def load_maker(self):
        file = self.folder / "make.py"
        if not file.exists():
            return None
        spec = importlib.util.spec_from_file_location(f"make_{self.name}", file)
        maker = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(maker)
        return maker


def as_list(value):
    return [value] if isinstance(value, str) else value


def write_honest_files(part):
    for name, text in honest_files().items():
        (part / name).write_text(text)


def logged_runs():
    """The runs of the solution's work log, as if they were of a kernel that the cut part has."""
    runs = json.loads((ROOT / "solutions" / PART / LOGGED_RUNS).read_text())["runs"]
    text = (ROOT / "solutions" / PART / "gemm_naive.cu").read_text()
    return [{**run, "task": "gemm_naive", "files": [{"name": "gemm_naive.cu", "text": text}]} for run in runs]


def honest_files():
    """All files of a right submission by their names, the runs of its work log among them."""
    return right_texts() | {LOGGED_RUNS: json.dumps({"runs": logged_runs()})}


def right_texts():
    """The files of a right submission by their names."""
    return {name: (ROOT / "solutions" / PART / name).read_text()
            for name in (SETTINGS["tasks"][task]["file"] for task in TASKS)}


def all_attacks():
    folders = [entry.parent for entry in sorted(FOLDER.glob("*/attack.toml"))]
    return [Attack(folder, name, table) for folder in folders for name, table in tables_of(folder).items()]

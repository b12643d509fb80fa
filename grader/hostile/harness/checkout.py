"""A small checkout for the grader to work in (ROOFLAB_ROOT): one real part with fewer cases and a short time limit."""

import json
import pathlib
import re
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[3]
SETTINGS = tomllib.loads((pathlib.Path(__file__).parents[1] / "checkout.toml").read_text())
PART = SETTINGS["part"]
NUMBER = tomllib.loads((ROOT / "labs" / PART / "part.toml").read_text())["number"]
TASKS = list(SETTINGS["tasks"])


def toml_value(value):
    """A value as TOML, tables and arrays inline. A JSON string is a TOML string."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{toml_key(key)} = {toml_value(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(toml_value(inner) for inner in value) + "]"
    return json.dumps(value)


def toml_key(key):
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key)


def write_toml(file, table):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{toml_key(key)} = {toml_value(value)}\n" for key, value in table.items()))


def named(entries, names, where):
    """The entries of these names, all of which have to be there."""
    found = [entry for entry in entries if entry["name"] in names]
    if len(found) != len(names):
        raise SystemExit(f"checkout.toml names cases that {where} does not have: {names}")
    return found


def small_task(task):
    wanted = SETTINGS["tasks"][task["id"]]
    if task["kind"] in ("answers", "worklog"):
        return task
    task = {key: value for key, value in task.items() if key != "ratio"}
    task["time_limit_s"] = SETTINGS["time_limit_s"]
    task["case"] = named(task["case"], wanted["cases"], task["id"])
    for speed in task.get("speed", []):
        speed["parameters"] = wanted["speed"]
    return task


def small_part(part):
    tasks = [small_task(task) for task in part["task"] if task["id"] in TASKS]
    return {**part, "task": tasks}


def small_hidden(hidden):
    cases = []
    for task in (task for task in TASKS if "hidden" in SETTINGS["tasks"][task]):
        own = [case for case in hidden["case"] if case["task"] == task]
        cases += named(own, SETTINGS["tasks"][task]["hidden"], "hidden.toml")
    return {"case": cases}


def make_checkout(folder):
    """Writes the checkout into `folder`. What is not cut down is a link to the real one."""
    real = ROOT / "labs" / PART
    write_toml(folder / "labs" / PART / "part.toml", small_part(tomllib.loads((real / "part.toml").read_text())))
    hidden = tomllib.loads((ROOT / "solutions" / PART / "hidden.toml").read_text())
    write_toml(folder / "solutions" / PART / "hidden.toml", small_hidden(hidden))
    key = "answers.key.toml"
    (folder / "solutions" / PART / key).symlink_to(ROOT / "solutions" / PART / key)
    (folder / "labs" / PART / "interface").symlink_to(real / "interface")
    (folder / "labs" / "toolkit").symlink_to(ROOT / "labs" / "toolkit")
    for name in ("specs", "handouts"):
        (folder / name).symlink_to(ROOT / name)

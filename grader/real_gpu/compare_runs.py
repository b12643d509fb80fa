"""What two gradings of the same code on the same GPU say of each other, and what gradings found."""

import json


def timings_of(file):
    """{task and case: timing} of a grade's JSON; empty where there is none."""
    try:
        tasks = json.loads(file.read_text())["tasks"]
    except (OSError, ValueError, KeyError):
        return {}
    return {f"{task['id']} {timing['name']}": timing for task in tasks for timing in task.get("timings", [])}


def interval(timing):
    measured = timing.get("measured") or {}
    return measured.get("low_us", timing["time_us"]), measured.get("high_us", timing["time_us"])


def line_of(name, first, second):
    """(whether the intervals meet, a line about it)"""
    meet = interval(first)[0] <= interval(second)[1] and interval(second)[0] <= interval(first)[1]
    change = 100 * (second["time_us"] / first["time_us"] - 1) if first["time_us"] else 0.0
    told = []
    for timing in (first, second):
        low, high = interval(timing)
        told.append(f"{timing['time_us']:.2f} us ({low:.2f} to {high:.2f})")
    return meet, f"{'ok   ' if meet else 'APART'} {name:40} {told[0]:36} {told[1]:36} {change:+.2f} %"


def compare(first_file, second_file):
    """(text, whether both gradings have the same timed cases and all intervals meet)"""
    first, second = timings_of(first_file), timings_of(second_file)
    if not first or not second:
        return f"there are {len(first)} and {len(second)} timed cases: nothing to compare\n", False
    common = [name for name in first if name in second]
    lines, apart = [], 0
    for name in common:
        meet, line = line_of(name, first[name], second[name])
        lines.append(line)
        apart += not meet
    for which, timings in (("first", first), ("second", second)):
        measured = [timing["measured"] for timing in timings.values() if timing.get("measured")]
        if measured:
            lines.append(f"{which}: {sum(one['contradicted'] for one in measured)} samples by our clock, "
                         f"{sum(one['dropped'] for one in measured)} dropped, of {sum(one['samples'] for one in measured)}")
        else:
            lines.append(f"{which}: times are modelled and have no intervals")
    lines.append(f"{apart} of {len(common)} timed cases have intervals apart; "
                 f"{len(first) + len(second) - 2 * len(common)} are in one of the gradings alone")
    return "\n".join(lines) + "\n", apart == 0 and len(first) == len(second) == len(common)


def codes_of(folder):
    """A line for each grading of a folder: its verdicts, its codes, and what is said of compute-sanitizer."""
    lines = []
    for file in sorted(folder.glob("*.json")):
        try:
            tasks = json.loads(file.read_text())["tasks"]
        except (OSError, ValueError, KeyError):
            lines.append(f"{file.stem}: no result")
            continue
        for task in tasks:
            found = task["diagnostics"]
            notes = [note for one in found for note in one.get("notes", []) if "races and wrong accesses" in note]
            lines.append(f"{file.stem}: {task['verdict']} {', '.join(one['code'] for one in found)}"
                         + "".join(f"; {note}" for note in notes))
    return lines or ["there is no grading"]

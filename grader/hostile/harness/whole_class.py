"""All attacks in one class, with right submissions among them, graded by one run of `grader batch`."""

import csv
import io
import json
import resource
import shutil
import sqlite3
import time
import xml.etree.ElementTree

from harness import alone, checkout, collection, expectations, leftovers, reports

ATTACKS_FOR_EACH_RIGHT_ONE = 5
LONGEST_CLASS_S = 1500
RIGHT = "right"
UNREADABLE = "unreadable"
UNGRADED = "ungraded"
FOR_INSTRUCTORS = ("class.html", "analysis.html")
# With what East Asian keyboards make of the first four.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")
BLANKS = " \n\v\f\u00a0\u2003\u200b\u2060\u3000\ufeff"  # which spreadsheets may leave out before a formula


def write_class(folder, attacks, honest):
    """The names of the right submissions. Each has a comment of its own: equal ones are graded once."""
    folder.mkdir()
    for attack in attacks:
        attack.write_entry(folder)
    names = []
    for number in range(honest):
        part = folder / f"{RIGHT}_{number:02}" / checkout.PART
        part.mkdir(parents=True)
        collection.write_honest_files(part)
        file = part / checkout.SETTINGS["tasks"][checkout.TASKS[0]]["file"]
        file.write_text(file.read_text() + f"// number {number}\n")
        names.append(part.parent.name)
    return names


def submissions_of(database):
    """What the batch knows of each submission by its name in the folder."""
    query = """SELECT s.called, s.problem, s.doubts, g.state, g.why, e.evidence FROM submissions s
               LEFT JOIN grades r ON r.submission = s.id LEFT JOIN gradings g ON g.name = r.grading
               LEFT JOIN evidence e ON e.grading = g.name"""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        found = {}
        for called, problem, doubts, state, why, evidence in connection.execute(query):
            tasks = json.loads(evidence)["result"]["tasks"] if evidence else None
            found[called] = {"problem": problem, "doubts": doubts, "state": state, "why": why, "tasks": tasks}
        return found
    finally:
        connection.close()


def of_attack(attack, submissions):
    """An entry's name is the attack's, or has it in it where the name is the attack."""
    if attack.name in submissions:
        return submissions[attack.name]
    found = [row for called, row in submissions.items() if attack.only_in_class and attack.name in called]
    return found[0] if len(found) == 1 else None


def judge_attack(attack, submissions, right):
    row = of_attack(attack, submissions)
    if row is None:
        return ["it is not in the class"], "nothing"
    if row["tasks"] is None:
        got = f"{UNREADABLE}: {row['problem']!r}" if row["problem"] else f"{row['state']}: {row['why']}"
        refused = (row["problem"] and UNREADABLE in attack.in_class) or (not row["state"] and UNGRADED in attack.in_class)
        return [] if refused else [f"there is no result ({got})"], got
    if attack.in_class == [UNREADABLE]:
        return ["it was taken in"], "graded"
    if attack.only_in_class:
        return [] if row["tasks"] == right else ["it is right and has other points"], "right"
    task = row["tasks"][checkout.TASKS.index(attack.task)]
    said = task["diagnostics"][0]["code"] + " " + repr(task["diagnostics"][0]["message"]) if task["diagnostics"] else ""
    return (expectations.faults_of_task(attack, task, attack.in_class)
            + expectations.faults_of_others(attack, row["tasks"], right)), f"{task['verdict']} {said}"


def csv_faults(name, text):
    """Cells that a spreadsheet would take for a formula."""
    def is_number(cell):
        try:
            float(cell)
        except ValueError:
            return False
        return True

    return [f"{name} has a formula in it: {cell!r}" for row in csv.reader(io.StringIO(text)) for cell in row
            if cell.lstrip(BLANKS).startswith(FORMULA) and not is_number(cell)]


def faults_of_outputs(out, attacks):
    """What is wrong with the files for instructors, students and gradebooks."""
    faults = []
    right = reports.count_of_active_tags((out / "feedback" / f"{RIGHT}_00.html").read_text())
    for file in sorted(entry for entry in out.rglob("*") if entry.is_file()):
        name = file.relative_to(out).as_posix()
        if file.name.startswith("batch.") or file.parent.name == "answers":  # these are the files as handed in
            continue
        data = file.read_bytes()
        text, more = reports.text_faults(name, data.replace(b"\r\n", b"\n") if file.suffix == ".csv" else data)
        faults += more
        if file.suffix == ".json":
            faults += reports.json_faults(name, text)[1]
        elif file.suffix == ".csv":
            faults += csv_faults(name, text)
        elif file.suffix == ".xml":
            xml.etree.ElementTree.fromstring(text)
        elif file.suffix == ".html" and name not in FOR_INSTRUCTORS and reports.has_more_active_html(text, right):
            faults.append(f"{name} has more of {reports.count_of_active_tags(text)} than that of a right submission")
        for attack in attacks:
            if name == "class.html" or attack.name in name:
                faults += expectations.secrets_shown(attack, {name: text})
    return faults


def run_batch(grader, submissions, out, jobs):
    done, _ = grader.run("batch", ["batch", submissions, "--out", out, "--part", str(checkout.NUMBER), "--device",
                                   "sim:a100", "--seed", alone.SEED, "--jobs", str(jobs)], LONGEST_CLASS_S)
    return done


def rows_of(out, names):
    """What gradebooks and students get of these submissions."""
    with open(out / "grades.csv", newline="") as file:
        grades = {row["student"]: row for row in csv.DictReader(file) if row["student"] in names}
    evidence = {name: row["tasks"] for name, row in submissions_of(out / "batch.sqlite").items() if name in names}
    return grades, evidence


def faults_among_others(program, scratch, names, jobs):
    """Grades the honest submissions by themselves: nothing of theirs may differ."""
    for name in names:
        shutil.copytree(scratch / "class" / name, scratch / "honest" / name)
    grader = alone.Grader(program, scratch, "honest", "sim:a100")
    done = run_batch(grader, scratch / "honest", scratch / "out_honest", jobs)
    if done.returncode != 0:
        return [f"the class of honest submissions ends with {done.returncode}"]
    among, alone_there = rows_of(scratch / "out", names), rows_of(scratch / "out_honest", names)
    if len(among[0]) != len(names):
        return [f"grades.csv has {len(among[0])} of {len(names)} honest submissions"]
    return [f"{name} has another grade among the others" for name in names
            if any(one[name] != other[name] for one, other in zip(among, alone_there))]


def judge(program, scratch, attacks, jobs, honest=None):
    """The outcomes of all attacks, and one for the class as a whole.
    honest: how many right submissions there are; their grades are then compared with those that they have alone"""
    leftovers.adopt_orphans()
    names = write_class(scratch / "class", attacks, honest or len(attacks) // ATTACKS_FOR_EACH_RIGHT_ONE + 2)
    grader = alone.Grader(program, scratch, "class", "sim:a100")
    out = scratch / "out"
    start = time.monotonic()
    done = run_batch(grader, scratch / "class", out, jobs)
    seconds = time.monotonic() - start
    printed, faults = reports.text_faults("terminal", done.stdout)
    faults += [f"a process is left: {line}" for line in leftovers.surviving_processes()]
    faults += [f"a file is left: {name}" for name in grader.strays()]
    if done.returncode not in (0, 1):
        faults.append(f"the exit code is {done.returncode}: {printed[-3000:]}")
        return [whole("the class", faults, seconds)]
    submissions = submissions_of(out / "batch.sqlite")
    right = submissions[names[0]]["tasks"]
    full = [task["verdict"] == "pass" and task["score"] == task["max_score"] for task in right]
    if not all(full):
        faults.append(f"a right submission does not have its points: {right}")
    faults += [f"{name} is right and has another result: {submissions[name]}" for name in names
               if submissions[name]["tasks"] != right]
    faults += faults_of_outputs(out, attacks)
    if honest:
        faults += faults_among_others(program, scratch, names, jobs)
    known = {entry.name for entry in out.iterdir()}
    if "work" in known:
        faults.append("folders of jobs are left")
    outcomes = []
    for attack in attacks:
        wrong, got = judge_attack(attack, submissions, right)
        outcomes.append({"name": attack.name, "faults": wrong, "seconds": 0, "cpu": 0, "got": got})
    return outcomes + [whole(f"the class of {len(submissions)}", faults, seconds)]


def whole(name, faults, seconds):
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"name": name, "faults": faults, "seconds": seconds, "cpu": usage.ru_utime + usage.ru_stime, "got": ""}

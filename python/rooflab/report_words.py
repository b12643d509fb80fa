"""The document of a grade, in words."""

from rooflab.words import one_line, points, visible

MOST_DIAGNOSES = 5
MOST_PRINTED_LINES = 20


def score_line(document):
    """"Part N, the_task: 25 of 25 points, pass"."""
    tasks = document["tasks"]
    if len(tasks) == 1:
        task = tasks[0]
        bonus = " bonus" if task["bonus"] else ""
        return (f"Part {document['part']}, {one_line(task['id'])}: {points(task['score'])} of {points(task['max_score'])}{bonus} "
                f"points, {task['verdict'].replace('-', ' ')}")
    bonus = f" and {points(document['bonus'])} bonus" if document["bonus"] else ""
    return f"Part {document['part']}: {points(document['score'])} of {points(document['max_score'])} points{bonus}"


def is_fine(document):
    return all(task["verdict"] in ("pass", "not-applicable") for task in document["tasks"])


def place(diagnostic, label=None, cell_file=None):
    """"gemv.cu:16", with the line of the cell where the file was made of one."""
    file, line = (label or diagnostic)["file"], (label or diagnostic)["line"]
    if not file:
        return ""
    if not line:
        return one_line(file)
    # The magic is the first line of the cell.
    return f"{one_line(file)}:{line}" + (f" (line {line + 1} of this cell)" if file == cell_file else "")


def diagnosis(diagnostic, cell_file=None, kind="error"):
    """One diagnosis as lines of text."""
    lines = [f"{kind}[{diagnostic['code']}] {one_line(diagnostic['message'])}"]
    labels = diagnostic["labels"]
    if not labels and place(diagnostic):
        lines.append(f"  {place(diagnostic, cell_file=cell_file)}")
    for label in labels:
        lines.append(f"  {place(diagnostic, label, cell_file)}: {one_line(label['text'])}")
        if label["excerpt"]:
            lines.append(f"    | {visible(label['excerpt']).rstrip()}")
    lines += [f"  {visible(line)}" for line in diagnostic["evidence"]]
    lines += [f"  note: {one_line(note)}" for note in diagnostic["notes"]]
    if diagnostic["help"]:
        lines.append(f"  help: {one_line(diagnostic['help'])}")
    lines.append(f"  what it means: %rooflab explain {diagnostic['code']}")
    return "\n".join(lines)


def diagnoses(document, cell_file=None):
    """Pairs of kind and text, task by task."""
    told = []
    for task in document["tasks"]:
        fails = task["verdict"] not in ("pass", "not-applicable")
        prefix = f"{one_line(task['id'])}: " if len(document["tasks"]) > 1 else ""
        kind = "warning" if task["verdict"] == "not-implemented" else "error" if fails else "note"
        told += [(kind, prefix + diagnosis(one, cell_file, kind)) for one in task["diagnostics"][:MOST_DIAGNOSES]]
        more = len(task["diagnostics"]) - MOST_DIAGNOSES
        if more > 0:
            told.append(("note", f"{prefix}and {more} more diagnoses, in the report"))
    return told


TASK_HEAD = ("task", "outcome", "points")


def task_rows(document):
    return [(one_line(task["id"]), task["verdict"].replace("-", " "),
             f"{points(task['score'])}/{points(task['max_score'])}" + (" bonus" if task["bonus"] else ""))
            for task in document["tasks"]]


def printed(document):
    """The last lines that the code of a single task printed."""
    if len(document["tasks"]) != 1:
        return ""
    lines = document["tasks"][0]["output"].splitlines(keepends=True)
    return "".join(lines[-MOST_PRINTED_LINES:])

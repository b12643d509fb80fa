"""A class of students who never were, as Canvas exports what it handed in, and its gradebook as the roster."""

import csv
import dataclasses
import io
import pathlib
import random
import tarfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PART = "part1-metrics"
TASK_FILE = "counters.cpp"
QUESTION = "twice_the_lanes"
GIVEN = ("Ada", "Bjørn", "Chloé", "Đặng", "Efua", "Fatima", "Gül", "Hồng", "Ivo", "Jürgen", "李娜", "Małgorzata", "Nuno", "O'Neil", "Zoë")
FAMILY = ("Lovelace", "Ångström", "Nguyễn", "van der Berg", "D'Arcy", "Škoda", "Müller", "García Márquez", "王", "Smith-Jones")
HEAD = "Student,ID,SIS User ID,SIS Login ID,Section,group_name".split(",")


@dataclasses.dataclass(frozen=True)
class Student:
    number: int
    name: str
    group: str  # "" for those who work alone

    @property
    def canvas_id(self):
        return 50_000 + self.number

    @property
    def login(self):
        return f"s{self.number:04}"


@dataclasses.dataclass(frozen=True)
class TermClass:
    students: list
    missing: set  # logins
    late: set     # logins


def solution(name):
    return (ROOT / "solutions" / PART / name).read_text()


def files_of(source, who):
    """What somebody hands in: right, wrong or broken code with an answer in free text, each of its own bytes."""
    code = solution(TASK_FILE) + f"// by {who}\n"
    kind = source.random()
    if kind < 0.3:
        code = code.replace("return", "return 0 *", 1)
    elif kind < 0.4:
        code += "#error not yet\n"
    files = {TASK_FILE: code}
    if source.random() < 0.8:
        files["answers.toml"] = f'{QUESTION} = """{who} says: the memory\'s bandwidth <b>bounds</b> both."""\n'
    return files


def archive_of(files, kind):
    buffer = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in files.items():
                archive.writestr(f"repo-main/starter/{PART}/{name}", text)
    else:
        with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
            for name, text in files.items():
                entry = tarfile.TarInfo(f"{PART}/{name}")
                entry.size = len(text.encode())
                archive.addfile(entry, io.BytesIO(text.encode()))
    return buffer.getvalue()


def write_entry(folder, stem, files, source):
    kind = source.choice(["folder", "zip", "tar.gz"])
    if kind == "folder":
        target = folder / f"{stem}_lab" / PART
        target.mkdir(parents=True)
        for name, text in files.items():
            (target / name).write_text(text)
    else:
        (folder / f"{stem}_lab.{kind}").write_bytes(archive_of(files, kind))


def make_students(count, source):
    """A tenth of them in groups of two; every name is another one, up to case and accents."""
    students = []
    for number in range(count):
        name = f"{source.choice(GIVEN)} {source.choice(FAMILY)} {number}"
        group = f"Team {number // 2}" if number < count // 10 else ""
        students.append(Student(number, name, group))
    return students


def write_roster(file, students):
    with open(file, "w", newline="", encoding="utf-8-sig") as out:
        table = csv.writer(out)
        table.writerow(HEAD)
        for one in students:
            table.writerow([one.name, one.canvas_id, f"u{one.number:05}", one.login, f"Section {one.number % 4}", one.group])


def letters(text):
    return "".join(letter for letter in text.lower() if letter.isalnum())


def make_class(folder, roster, count, source):
    """Writes the submissions below `folder` and the roster; hostile ones come on top of `count`."""
    folder.mkdir(parents=True)
    students = make_students(count, source)
    write_roster(roster, students)
    missing = {one.login for one in source.sample([one for one in students if not one.group], max(1, count // 50))}
    late, seen = set(), set()
    for one in students:
        if one.login in missing or (one.group and one.group in seen):
            continue
        seen.add(one.group)
        mark = source.random() < 0.1
        late |= {other.login for other in students if mark and (other is one or (one.group and other.group == one.group))}
        stem = f"{letters(one.group or one.name)}{'_LATE' if mark else ''}_{one.canvas_id}_{90_000 + one.number}"
        write_entry(folder, stem, files_of(source, one.group or one.login), source)
    write_hostile_ones(folder)
    return TermClass(students, missing, late)


def write_hostile_ones(folder):
    """Entries that are nobody's on the roster; grader/hostile has the attacks that each have a test of their own."""
    endless = solution(TASK_FILE).replace("return", "for (volatile int i = 0; ; i = i + 1) {} return", 1)
    for name, files in {
        "mallory": {TASK_FILE: endless},
        "=HYPERLINK(\"http:||x\")": {TASK_FILE: solution(TASK_FILE) + "// formula\n"},
        "<script>alert(1)<|script>": {TASK_FILE: solution(TASK_FILE) + "// <script>alert(1)</script>\n"},
        "-rf": {TASK_FILE: solution(TASK_FILE) + "// an option\n"},
        "nested": {"answers.toml": f"{QUESTION} = " + "[" * 100_000 + "\n"},
        "dotted": {"answers.toml": ".".join(["a"] * 50_000) + " = 1\n"},
        "includes": {TASK_FILE: '#include "/etc/passwd"\n#include "/dev/zero"\n'},
        "markup": {"answers.toml": f"{QUESTION} = '</textarea><script>document.title = 1</script>'\n"},
    }.items():
        target = folder / name / PART
        target.mkdir(parents=True)
        for file, text in files.items():
            (target / file).write_text(text)
    (folder / "bomb.zip").write_bytes(archive_of({TASK_FILE: "0" * (60 << 20)}, "zip"))
    with zipfile.ZipFile(folder / "leads_out.zip", "w") as archive:
        archive.writestr(f"../../../{PART}/{TASK_FILE}", "int main() {}\n")
    with tarfile.open(folder / "links.tar.gz", "w:gz") as archive:
        link = tarfile.TarInfo(f"{PART}/{TASK_FILE}")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    (folder / "nothing.zip").write_bytes(b"PK\x03\x04" + bytes(random.Random(1).randrange(256) for _ in range(5000)))

"""One attack by a grader of its own, and a right submission by the next."""

import json
import os
import pathlib
import resource
import subprocess
import sys
import time

from harness import checkout, collection, expectations, leftovers, reports

SEED = "20240229"
LONGEST_GRADE_S = 300


class Grader:
    """Runs the grader in a scratch folder that is all it may leave traces in."""

    def __init__(self, program, scratch, name, device):
        self.program = program
        self.device = device
        self.scratch = scratch
        self.folder = scratch / "runs" / name

    def run(self, kind, arguments, longest_s=LONGEST_GRADE_S):
        """The finished process and its folder."""
        folder = self.folder / kind
        for inner in ("cwd", "home", "tmp"):
            (folder / inner).mkdir(parents=True)
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), "TMPDIR": str(folder / "tmp"),
                       "ROOFLAB_ROOT": str(self.scratch / "checkout"), "ROOFLAB_CACHE": str(self.scratch / "cache"),
                       "ROOFLAB_HOSTILE_SECRET": "environment of the grader"}
        for name in ("ROOFLAB_NVCC", "LD_LIBRARY_PATH"):
            if name in os.environ:
                environment[name] = os.environ[name]
        done = subprocess.run([self.program, *arguments], cwd=folder / "cwd", env=environment, timeout=longest_s,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done, folder

    def grade(self, kind, submission):
        target = self.folder / kind
        done, folder = self.run(kind, ["--part", str(checkout.NUMBER), "--submission", submission, "--device",
                                       self.device, "--seed", SEED, "--json", target / "grade.json", "--html",
                                       target / "grade.html"])
        return reports.Reports(folder, done.returncode, done.stdout)

    def strays(self):
        """What lies in the folders that ought to be empty, and what has the mark anywhere."""
        found = [str(entry) for inner in ("cwd", "home", "tmp") for entry in self.folder.glob(f"*/{inner}/*")]
        places = [collection.ROOT, pathlib.Path(self.program).parent, self.scratch, self.scratch / "cache",
                  self.scratch / "cache" / "build", pathlib.Path.home(), self.scratch / "checkout"]
        return found + leftovers.stray_files(places)


def is_real(device):
    return device.startswith("cuda")


def same_grade(one, other, device):
    """To the last digit; on a real GPU but for times."""
    if is_real(device) and one is not None:
        return expectations.without_times(one) == expectations.without_times(other)
    return one == other


def expect_attack(attack, report, honest, device):
    """What is wrong with the report of an attack."""
    faults = report.parse()
    printed = report.texts["terminal"]
    faults += expectations.secrets_shown(attack, report.texts)
    if attack.verdicts == ["usage-error"]:
        if report.exit_code != 2 or report.document is not None:
            faults.append(f"the submission was not refused: exit code {report.exit_code}")
        return faults + ([] if attack.says in printed else [f"it does not say {attack.says!r}: {printed}"])
    if report.document is None:
        return faults + [f"there is no result; exit code {report.exit_code}: {printed[-2000:]}"]
    tasks = report.document["tasks"]
    if is_real(device):
        faults += expectations.faults_of_task_on_gpu(attack, report.task(attack.task))
        faults += expectations.faults_of_others(attack, expectations.without_times(report.document)["tasks"],
                                                expectations.without_times(honest["document"])["tasks"])
    else:
        faults += expectations.faults_of_task(attack, report.task(attack.task), attack.verdicts)
        faults += expectations.faults_of_others(attack, tasks, honest["document"]["tasks"])
    expected_exit = 0 if all(task["verdict"] == "pass" for task in tasks) else 1
    if report.exit_code != expected_exit:
        faults.append(f"the grader's exit code is {report.exit_code}, not {expected_exit}")
    if reports.has_more_active_html(report.texts["HTML"], honest["active"]):
        faults.append(f"the HTML has more of {reports.count_of_active_tags(report.texts['HTML'])} than that of a right "
                      f"submission: {honest['active']}")
    return faults


def judge(program, scratch, attack, device):
    """In a process of its own, which adopts what they leave."""
    leftovers.adopt_orphans()
    honest = json.loads((scratch / "honest.json").read_text())
    grader = Grader(program, scratch, attack.name, device)
    submission = grader.folder / "submission"
    attack.write_submission(submission)
    start = time.monotonic()
    report = grader.grade("attack", submission)
    seconds = time.monotonic() - start
    faults = expect_attack(attack, report, honest, device)
    faults += [f"a process is left: {line}" for line in leftovers.surviving_processes()]
    after = grader.grade("after", scratch / "honest")
    after.parse()
    if not same_grade(after.document, honest["document"], device) or after.exit_code != 0:
        faults.append(f"the right submission after it has another result: {after.texts['terminal'][-1000:]}")
    faults += [f"a file is left: {name}" for name in grader.strays()]
    remove_tree(grader.folder)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"name": attack.name, "faults": faults, "seconds": seconds, "cpu": usage.ru_utime + usage.ru_stime,
            "got": what_it_got(attack, report)}


def remove_tree(folder):
    """Whatever an attack left: Python's own gives up on folders that are thousands deep."""
    subprocess.run(["chmod", "-R", "u+rwX", folder], check=False)
    subprocess.run(["rm", "-rf", folder], check=True)


def what_it_got(attack, report):
    if report.document is None:
        return f"exit code {report.exit_code}: {report.texts['terminal'].strip()[-200:]!r}"
    task = report.task(attack.task)
    said = task["diagnostics"][0]["code"] + " " + repr(task["diagnostics"][0]["message"]) if task["diagnostics"] else ""
    return f"{task['verdict']} {said}"


def judge_elsewhere(arguments, scratch, attack):
    """judge() in a process of its own."""
    command = [sys.executable, sys.argv[0], "--build", arguments.build, "--one", attack.name, "--scratch", scratch,
               "--device", arguments.device]
    done = subprocess.run(command, capture_output=True, text=True)
    try:
        return json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        return {"name": attack.name, "faults": [f"the harness failed: {done.stderr[-3000:]}"], "seconds": 0, "cpu": 0,
                "got": "nothing"}


def prepare(program, scratch, device):
    """The checkout, the right submission and its result; returns the active layers of the sandbox."""
    scratch.chmod(0o755)
    checkout.make_checkout(scratch / "checkout")
    part = scratch / "honest" / checkout.PART
    part.mkdir(parents=True)
    collection.write_honest_files(part)
    report = Grader(program, scratch, "honest", device).grade("before", scratch / "honest")
    faults = report.parse()
    if report.exit_code != 0 or faults:
        raise SystemExit(f"the right submission does not pass: {faults} {report.texts['terminal']}")
    (scratch / "honest.json").write_text(json.dumps(
        {"document": report.document, "active": reports.count_of_active_tags(report.texts["HTML"])}))
    return report.document["sandbox"]

"""What is worth knowing of a machine with a GPU in half an hour, in the order of its value for its time."""

import datetime
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import compare_runs  # noqa: E402
import machine  # noqa: E402
import results_archive  # noqa: E402
from steps_runner import Runner, Step  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIMULATED = "sim:a100"
TABLE = "gpu_tests.json"  # in a build tree that came from elsewhere
BUILD_S = 5400
PLANTED = ("naive_no_bounds_check", "tiled_missing_second_barrier")
HOSTILE = ("kernel_left_running", "device_hoards_memory", "kernel_writes_to_neighbours")


def toolkit_folder():
    """The CUDA toolkit of this machine, or None."""
    nvcc = os.environ.get("ROOFLAB_NVCC") or shutil.which("nvcc")
    found = [os.environ.get("CUDA_HOME"), nvcc and pathlib.Path(nvcc).resolve().parents[1], "/usr/local/cuda"]
    return next((pathlib.Path(folder) for folder in found if folder and (pathlib.Path(folder) / "bin").is_dir()), None)


def registered(build):
    """{name: (words, environment)} of the tests that need a GPU: as ctest has them, or as they were packed."""
    table = build / TABLE
    if table.exists():
        places = {"@BUILD@": str(build), "@ROOT@": str(ROOT), "@PYTHON@": sys.executable,
                  "@CUDA@": str(toolkit_folder() or "/usr/local/cuda")}

        def put(word):
            for place, path in places.items():
                word = word.replace(place, path)
            return word
        return {name: ([put(word) for word in test["command"]], {key: put(value) for key, value in test["environment"].items()})
                for name, test in json.loads(table.read_text()).items()}
    return listed_by_ctest(build)


def listed_by_ctest(build):
    try:
        done = subprocess.run(["ctest", "--test-dir", build, "--label-regex", "^gpu$", "--show-only=json-v1"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60, check=False)
        tests = json.loads(done.stdout)["tests"]
    except (OSError, ValueError, KeyError, subprocess.TimeoutExpired):
        return {}
    found = {}
    for test in tests:
        values = {one["name"]: one["value"] for one in test["properties"]}
        environment = dict(entry.partition("=")[::2] for entry in values.get("ENVIRONMENT", []))
        found[test["name"]] = (test.get("command", []), environment)
    return found


class NoStep(Exception):
    """No step has a name like that."""


class Plan:
    """The steps for a build and a folder of results; with `rehearse`, on simulated GPUs."""

    def __init__(self, build, results, rehearse):
        self.build, self.results, self.rehearse = build, results, rehearse
        self.device = SIMULATED if rehearse else "cuda:0"
        self.tests = registered(build)
        self.grader = build / "bin" / "grader"

    def rehearsed(self, name, words):
        """A test's command for simulated GPUs in place of the real one."""
        inner = words[words.index("--") + 1:]
        simulated = [self.build / "bin" / "simgpu", "run", "--check", "none", "--"]
        if name == "gpu.device":  # of CudaDevice, which has nothing to simulate: it is skipped
            return words
        if name == "gpu.performance":
            return [*simulated, self.build / "tests" / "performance_table", "--json"]
        if name == "gpu.toolkit":
            return [*simulated, *inner]
        if name == "gpu.semantics":
            return [*inner, "--rehearse"]
        device = [] if "--device" in inner else ["--device", SIMULATED]
        return [SIMULATED if word == "cuda:0" else word for word in inner] + device

    def test(self, name, what, limit_s, folder="", words=(), **more):
        """A step that is a test of ctest, with results in a folder of its own."""
        command, environment = self.tests.get(name, ([], {}))
        if command and self.rehearse:
            command = self.rehearsed(name, command)
        results = self.results / folder if folder else self.results
        more.setdefault("least_s", min(30, limit_s / 10))
        return Step(name=folder or name, what=what, command=[*command, *words] if command else None, limit_s=limit_s,
                    environment={**environment, "ROOFLAB_GPU_RESULTS": str(results)}, **more)

    def grade(self, name, what, words, limit_s, **more):
        return Step(name=name, what=what, command=[self.grader, *words], limit_s=limit_s,
                    environment={"ROOFLAB_ROOT": str(ROOT)}, **more)

    def part(self, number, limit_s, folder=""):
        name = next((name for name, (words, _) in self.tests.items()
                     if name.startswith("gpu.solution.") and words[-2:] == ["--part", str(number)]),
                    f"gpu.solution.part{number}")
        return self.test(name, f"the solution of part {number}", limit_s, folder)

    def first_contact(self):
        yield Step("nvidia-smi", "clocks, throttling, compute mode", limit_s=60, when=lambda _: not self.rehearse,
                   command=["nvidia-smi", "-q", "-d", "CLOCK,PERFORMANCE,COMPUTE,POWER,TEMPERATURE"])
        yield self.grade("doctor", "what the grader finds here", ["doctor"], 120, least_s=1)
        yield self.test("gpu.device", "pools, calls, limits and endings of the real device", 300, least_s=2)
        yield self.grade("gemm-without-sandbox", "whether it is the sandbox: the simplest task without it",
                         ["--part", "1", "--task", "gemm_naive", "--submission", ROOT / "solutions", "--device",
                          self.device, "--no-sandbox", "--json", self.results / "gemm-without-sandbox.json"], 180,
                         when=lambda runner: runner.outcome_of("gpu.device") != "passed")

    def steps(self):
        yield from self.first_contact()
        yield self.part(1, 400, "part1-first")
        yield self.part(1, 400, "part1-second")
        yield Step("part1-compared", "intervals of the two gradings", limit_s=30, least_s=float("-inf"), function=self.compare_part1,
                   when=lambda runner: not runner.outcome_of("part1-second").startswith("not "))
        yield self.test("gpu.cheats", "two planted faults under compute-sanitizer", 240, "planted", PLANTED,
                        notes=lambda: compare_runs.codes_of(self.results / "planted" / "cheats"))
        yield self.test("gpu.calibrate", "peaks of this GPU", 400)
        yield self.test("gpu.hostile", "three hostile submissions", 300, "hostile", HOSTILE)
        yield self.test("gpu.cheats", "all planted cheats", 600)
        yield self.test("gpu.toolkit", "the toolkit with NVIDIA's runtime, cuBLAS and CUPTI", 300)
        yield self.test("gpu.performance", "the solutions beside libraries and hardware", 400,
                        words=[self.results / "performance_table.json"])
        yield self.grade("compare-times", "times of part 1 to hold the model against",
                         ["compare-times", "--measure", "--device", self.device, "--part", "1", "--out",
                          self.results / "times.toml"], 400)
        yield self.test("gpu.semantics", "what the GPU does, against what simgpu does, bit by bit", 600)
        for number in (2, 3, 4, 5, 0):
            yield self.part(number, 900)

    def matching(self, expression):
        """Those steps whose names match. @throws NoStep"""
        steps = list(self.steps())
        found = [step for step in steps if re.search(expression, step.name)]
        if not found:
            raise NoStep(f"no step matches {expression!r}; there are {', '.join(step.name for step in steps)}")
        return found

    def compare_part1(self):
        text, good = compare_runs.compare(self.results / "part1-first" / "solution-part1.json",
                                          self.results / "part1-second" / "solution-part1.json")
        return good, text


def build_step(build, jobs):
    """Configures and builds what the tests need. Before the clock starts: it is done beforehand where there is time."""
    return Step("build", "the project, with all that the tests run", free=True, limit_s=BUILD_S,
                command=[sys.executable, ROOT / "scripts" / "gpu_tests", "--build", build, "--jobs", jobs, "--build-only"])


def version():
    found = re.search(r"project\(rooflab VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())
    commit = machine.said("git", "-C", str(ROOT), "rev-parse", "--short=12", "HEAD")
    packed = machine.read(ROOT / "packed_commit").strip()
    return f"{found[1] if found else '?'}, commit {commit or packed or 'unknown'}"


class Record:
    """The summary and the archive, written whenever a step has ended."""

    def __init__(self, folder, archive, rehearse):
        self.folder, self.archive, self.final = folder, archive, False
        self.scrubber = results_archive.Scrubber({"rooflab": ROOT, "results": folder})
        self.head = {
            "title": "Rehearsal of Rooflab's run on a GPU: on SIMULATED GPUs" if rehearse else "Rooflab on a GPU",
            "rehearsal": rehearse,
            "begun": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
            "machine": {"Rooflab": version(), **machine.describe(toolkit_folder())},
        }

    def save(self, runner):
        summary = {**self.head, "budget_s": runner.budget_s, "seconds": round(runner.used_s(), 1),
                   "ended_by_signal": signal.Signals(runner.stopped).name if runner.stopped else "",
                   "steps": runner.outcomes}
        try:
            (self.folder / "summary.md").write_text(self.scrubber.text(results_archive.markdown(summary)))
            results_archive.write(self.archive, summary, self.folder / "kept", self.scrubber,
                                  preset=6 if self.final else 1)
        except Exception as error:  # as of a full disk: what was written before stays
            print(f"gpu_tests: {self.archive} could not be written: {error}", flush=True)


def run(arguments, say):
    """The whole run, or the steps that --only names.

    @return the exit code: 0 where all that was begun passed, 128 and the signal's number after one
    @throws NoStep
    """
    build, folder = arguments.build.resolve(), arguments.results.resolve()
    archive = (arguments.archive or folder / "rooflab-gpu-results.tar.xz").resolve()
    kept = folder / "kept"

    def steps():
        return Plan(build, kept / "results", arguments.rehearse).matching(arguments.only or "")
    steps()  # a wrong name is told before anything is removed or built
    if kept.exists():
        shutil.rmtree(kept)
    (kept / "results").mkdir(parents=True)
    minutes = arguments.minutes or 30
    say(f"{minutes:g} minutes{' of rehearsal, with ' + SIMULATED if arguments.rehearse else ''}; "
        f"whatever happens, {archive} holds what was seen")
    record = Record(folder, archive, arguments.rehearse)
    runner = Runner(kept / "logs", 60 * minutes, record.save, say)
    runner.take_signals()
    if not (arguments.no_build or arguments.rehearse or (build / TABLE).exists()):
        runner.run([build_step(build, arguments.jobs)])
    runner.run(steps())  # now that the build has its tests
    record.final = True
    record.save(runner)
    say = runner.say
    if archive.exists():
        say(f"{archive}: {archive.stat().st_size / (1 << 20):.1f} MiB; send it as it is")
    if runner.stopped:
        return 128 + runner.stopped
    bad = [one["name"] for one in runner.outcomes if one["outcome"] in ("failed", "took too long")]
    # Where there is a GPU, what was skipped has proved nothing.
    bad += [one["name"] for one in runner.outcomes if one["outcome"] == "skipped" and not arguments.rehearse]
    if bad:
        say("not passed: " + ", ".join(bad))
    return 1 if bad else 0

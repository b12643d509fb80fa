"""The run of steps: what hangs, fails, floods or is ended costs its own time, and the archive is there in every case."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
import unittest.mock

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import compare_runs  # noqa: E402
import results_archive  # noqa: E402
import steps_runner  # noqa: E402
from steps_runner import Runner, Step  # noqa: E402

steps_runner.PATIENCE_S = 1
# Two steps, of which the first hangs, with an archive that is written whenever one has ended.
INTERRUPTED = """
import pathlib, sys
sys.path.insert(0, sys.argv[1])
import results_archive
from steps_runner import Runner, Step
folder = pathlib.Path(sys.argv[2])
scrubber = results_archive.Scrubber({})
def save(runner):
    summary = {"title": "t", "machine": {}, "begun": "now", "seconds": 1, "budget_s": 60,
               "ended_by_signal": str(runner.stopped), "steps": runner.outcomes}
    results_archive.write(folder / "archive.tar.xz", summary, folder / "kept", scrubber)
runner = Runner(folder / "kept" / "logs", 60, save, lambda text: print(text, flush=True))
runner.take_signals()
runner.run([Step("first", "", ["sh", "-c", "echo seen; exec sleep 50"]), Step("second", "", ["true"])])
print("over", flush=True)
"""


class RunnerTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)
        self.saved = []

    def tearDown(self):
        self.scratch.cleanup()

    def run_steps(self, *steps, budget_s=60):
        runner = Runner(self.folder / "logs", budget_s, lambda runner: self.saved.append(len(runner.outcomes)),
                        say=lambda text: None)
        runner.run(list(steps))
        return runner.outcomes

    def log(self, name):
        return (self.folder / "logs" / f"{name}.log").read_text()

    def test_goes_on_after_a_step_that_fails_is_skipped_or_is_not_there(self):
        outcomes = self.run_steps(Step("fails", "", ["sh", "-c", "echo why; exit 3"]), Step("skipped", "", ["sh", "-c", "exit 77"]),
                                  Step("absent", "", ["/no/such/program"]), Step("unknown", ""), Step("last", "", ["true"]))
        self.assertEqual([one["outcome"] for one in outcomes], ["failed", "skipped", "failed", "failed", "passed"])
        self.assertEqual(outcomes[0]["exit_code"], 3)
        self.assertEqual(self.log("fails"), "why\n")
        self.assertEqual(self.saved, [1, 2, 3, 4, 5])

    def test_ends_a_step_that_hangs_with_all_that_it_started(self):
        # It ignores the first signal, and one of its children left its session.
        sleep = f"sleep 47.{os.getpid()}"
        hangs = f"trap '' TERM; echo begun; setsid {sleep} & {sleep}; {sleep}"
        began = time.monotonic()
        outcomes = self.run_steps(Step("hangs", "", ["sh", "-c", hangs], limit_s=1), Step("last", "", ["true"]))
        self.assertLess(time.monotonic() - began, 20)
        self.assertEqual([one["outcome"] for one in outcomes], ["took too long", "passed"])
        self.assertEqual(self.log("hangs"), "begun\n")
        left = subprocess.run(["pgrep", "-f", sleep], stdout=subprocess.PIPE, check=False)
        self.assertEqual(left.stdout, b"")

    def test_does_not_wait_for_a_process_that_a_step_left_behind(self):
        began = time.monotonic()
        outcomes = self.run_steps(Step("leaves", "", ["sh", "-c", "setsid sleep 48.11 & echo done"]))
        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual((outcomes[0]["outcome"], self.log("leaves")), ("passed", "done\n"))

    def test_keeps_beginning_and_end_of_what_is_printed_without_end(self):
        floods = "print('first', flush=True)\nfor _ in range(300): print('x' * 65535)\nprint('last')"
        self.run_steps(Step("floods", "", [sys.executable, "-c", floods]))
        text = self.log("floods")
        self.assertLess(len(text), 6 << 20)
        self.assertTrue(text.startswith("first\n") and text.endswith("last\n"))
        self.assertIn("bytes left out ...", text)

    def test_begins_nothing_that_has_no_time_left_and_bounds_the_rest_by_it(self):
        outcomes = self.run_steps(Step("long", "", ["sleep", "30"], limit_s=30, least_s=0), Step("next", "", ["true"], least_s=1),
                                  Step("unneeded", "", ["false"], when=lambda runner: False), budget_s=2)
        self.assertEqual([one["outcome"] for one in outcomes], ["took too long", "not begun: no time left", "not needed"])

    def test_takes_no_time_of_the_budget_for_what_comes_before_it(self):
        outcomes = self.run_steps(Step("build", "", ["sleep", "2"], free=True), Step("next", "", ["true"], least_s=1), budget_s=2)
        self.assertEqual([one["outcome"] for one in outcomes], ["passed", "passed"])

    def test_survives_faults_of_its_own_functions(self):
        outcomes = self.run_steps(Step("breaks", "", function=lambda: 1 / 0), Step("last", "", function=lambda: (True, "text")))
        self.assertEqual([one["outcome"] for one in outcomes], ["failed", "passed"])
        self.assertIn("ZeroDivisionError", outcomes[0]["notes"][0])

    def test_writes_the_archive_when_it_is_ended_and_begins_nothing_more(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            process = subprocess.Popen([sys.executable, "-c", INTERRUPTED, HERE, self.folder], stdout=subprocess.PIPE, text=True)
            log = self.folder / "kept" / "logs" / "first.log"
            time.sleep(1.5)
            process.send_signal(number)
            said, _ = process.communicate(timeout=30)
            self.assertTrue(said.endswith("over\n"), said)
            with tarfile.open(self.folder / "archive.tar.xz") as archive:
                summary = json.load(archive.extractfile("rooflab-gpu-results/summary.json"))
            self.assertEqual([one["outcome"] for one in summary["steps"]], ["interrupted", "not begun: interrupted"])
            self.assertEqual(summary["ended_by_signal"], str(int(number)))
            self.assertEqual(log.read_text(), "seen\n")


SUMMARY = {"title": "A run", "begun": "now", "seconds": 1.0, "budget_s": 2.0, "ended_by_signal": "",
           "machine": {"system": "Linux", "gpus": [{"name": "H200"}]},
           "steps": [{"name": "doctor", "what": "w", "outcome": "passed", "exit_code": 0, "seconds": 0.5, "notes": ["n"]}]}


class ArchiveTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name) / "kept"
        self.folder.mkdir()
        self.archive = self.folder.parent / "archive.tar.xz"

    def tearDown(self):
        self.scratch.cleanup()

    def put(self, name, content):
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())

    def write(self, **more):
        results_archive.write(self.archive, SUMMARY, self.folder, results_archive.Scrubber({"results": self.folder}), **more)
        with tarfile.open(self.archive) as archive:
            return {member.name.partition("/")[2]: archive.extractfile(member).read() for member in archive.getmembers()}

    def test_holds_summary_logs_and_results_and_no_pages_or_links(self):
        self.put("logs/doctor.log", "ok")
        self.put("results/grade.json", "{}")
        self.put("results/grade.html", "<html>")
        (self.folder / "results" / "link").symlink_to("/etc/passwd")
        found = self.write()
        self.assertEqual(sorted(found), ["logs/doctor.log", "results/grade.json", "summary.json", "summary.md"])
        self.assertIn("| doctor | passed | 0 | 0.5 | w |", found["summary.md"].decode())
        self.assertEqual(json.loads(found["summary.json"])["steps"][0]["name"], "doctor")

    def test_names_no_person_no_host_and_no_card(self):
        host = "gandalf.example.org"
        self.put("log", f"{pathlib.Path.home()}/x on {host}: {self.folder}/y\nGPU-8c4d1f20-0000-1111-2222-333344445555\n"
                        "    Serial Number                         : 1652923015342\n")
        with unittest.mock.patch("socket.gethostname", return_value=host):
            said = self.write()["log"].decode()
        for private in (str(pathlib.Path.home()) + "/x", "gandalf", str(self.folder), "8c4d1f20", "1652923015342"):
            self.assertNotIn(private, said)
        self.assertIn("<results>/y\nGPU-<number>\n", said)

    def test_keeps_bytes_that_are_no_text_and_leaves_out_the_largest_where_it_has_no_room(self):
        self.put("small.xz", bytes(range(256)))
        self.put("large.xz", os.urandom(200_000))
        found = self.write(most_bytes=50_000)
        self.assertEqual(found["small.xz"], bytes(range(256)))
        self.assertNotIn("large.xz", found)
        self.assertEqual(json.loads(found["summary.json"])["left_out"], ["large.xz"])
        self.assertLess(self.archive.stat().st_size, 50_000)


class CompareRunsTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)

    def tearDown(self):
        self.scratch.cleanup()

    def grade(self, name, time_us, low_us, high_us):
        file = self.folder / f"{name}.json"
        measured = {"low_us": low_us, "high_us": high_us, "samples": 10, "dropped": 1, "contradicted": 2}
        file.write_text(json.dumps({"tasks": [{"id": "gemm", "verdict": "pass", "diagnostics": [{"code": "RL0201"}],
                                               "timings": [{"name": "n=1", "time_us": time_us, "measured": measured}]}]}))
        return file

    def test_intervals_of_two_gradings_meet_or_are_apart(self):
        first = self.grade("first", 100, 98, 102)
        text, good = compare_runs.compare(first, self.grade("second", 103, 101, 105))
        self.assertTrue(good)
        self.assertIn("+3.00 %", text)
        self.assertIn("first: 2 samples by our clock, 1 dropped, of 10", text)
        text, good = compare_runs.compare(first, self.grade("second", 110, 108, 112))
        self.assertFalse(good)
        self.assertIn("1 of 1 timed cases have intervals apart", text)

    def test_nothing_is_compared_where_one_is_missing(self):
        self.assertFalse(compare_runs.compare(self.grade("first", 1, 1, 1), self.folder / "none")[1])

    def test_codes_of_a_folder_of_gradings(self):
        self.grade("naive", 1, 1, 1)
        (self.folder / "broken.json").write_text("{")
        self.assertEqual(compare_runs.codes_of(self.folder), ["broken: no result", "naive: pass RL0201"])


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Runs a class's jobs by a real Slurm of one node, and breaks it in the midst.

slurm_test.py PROGRAM [Usual|Slow], PROGRAM being stand_in_cluster_grader. Exits with 77 where Slurm is not installed or cannot be started.
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from private_slurm import PrivateSlurm, Unavailable, wait_until

SKIPPED = 77
PROGRAM = ""

# Says when it began and ended, and leaves a result. Two at a time in one folder are told by `mkdir`. Where Slurm ends its
# processes one by one, it may end `sleep` first: what comes behind must not run then.
JOB = """
echo "begin $SLURM_RESTART_COUNT" >> runs.txt
mkdir running || touch twice
sleep {seconds} || exit 1
rmdir running
echo end >> runs.txt
echo '{{}}' > result.tmp && mv result.tmp result.json
"""


class Batch:
    """A batch process in a folder of its own, with jobs that sleep."""

    def __init__(self, slurm, folder, count, seconds=0.3):
        self.slurm = slurm
        self.folder = pathlib.Path(folder)
        self.names = [f"job{number:02}" for number in range(count)]
        self.process = None
        for name in self.names:
            self.job(name).mkdir(parents=True)
            self.script(name, JOB.format(seconds=seconds))

    def job(self, name):
        return self.folder / "jobs" / name

    def script(self, name, text):
        (self.job(name) / "do.sh").write_text(text)

    def start(self, *arguments):
        with open(self.folder / "batch.txt", "w") as output:
            self.process = subprocess.Popen([PROGRAM, "slurm", str(self.folder), *arguments],
                                            env=self.slurm.environment, stdin=subprocess.DEVNULL, stdout=output,
                                            stderr=output)

    def told(self):
        return (self.folder / "batch.txt").read_text().splitlines()

    def done(self):
        return sorted(line.removeprefix("done ") for line in self.told() if line.startswith("done "))

    def begun(self):
        return [name for name in self.names if (self.job(name) / "runs.txt").exists()]

    def results(self):
        return [name for name in self.names if (self.job(name) / "result.json").exists()]

    def arrays(self):
        folder = self.folder / "slurm"
        return list(folder.iterdir()) if folder.exists() else []

    def wait(self, seconds=60):
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError("the batch does not end:\n" + "\n".join(self.told()) + "\n" +
                                 "\n".join(self.slurm.queue("%F_%K %T %r")) + "\n" +
                                 self.slurm.log("slurmctld")[-3000:]) from None
        return code


class SlurmCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="rooflab-slurm-")
        self.addCleanup(self.folder.cleanup)
        root = pathlib.Path(self.folder.name)
        (root / "slurm").mkdir()
        (root / "batch").mkdir()
        self.slurm = PrivateSlurm(root / "slurm", max_array_size=11)
        self.addCleanup(self.slurm.stop)

    def batch(self, count, seconds=0.3):
        return Batch(self.slurm, pathlib.Path(self.folder.name) / "batch", count, seconds)

    def expect_all_done(self, batch):
        self.assertEqual(batch.wait(), 0, batch.told())
        self.assertEqual(batch.results(), batch.names)
        self.expect_nothing_left(batch)

    def expect_nothing_left(self, batch):
        self.assertEqual(self.slurm.queue(), [])
        self.assertEqual(batch.arrays(), [])
        twice = [name for name in batch.names if (batch.job(name) / "twice").exists()]
        self.assertEqual(twice, [], "ran twice at a time")

    def start_requeued_now(self):
        """Slurm lets a requeued task wait for two minutes; a test does not."""
        for line in self.slurm.queue("%F_%K %T %r"):
            task, state, reason = line.split(maxsplit=2)
            if state == "PENDING" and reason == "BeginTime":
                self.slurm.run("scontrol", "update", f"JobId={task}", "StartTime=now", check=False)


class Usual(SlurmCase):
    def test_runs_a_class_in_chunks_and_tells_of_each_end_once(self):
        batch = self.batch(30)
        batch.script("job07", "kill -SEGV $$")
        batch.script("job08", "exit 3")
        batch.start()
        wait_until(lambda: len(batch.arrays()) == 3, 20, "30 jobs in arrays of 11 are three arrays")
        self.assertEqual(batch.wait(), 0, batch.told())
        good = [name for name in batch.names if name not in ("job07", "job08")]
        self.assertEqual(batch.done(), good)
        self.assertEqual(batch.results(), good)
        self.assertEqual(sorted(line for line in batch.told() if line.startswith("failed")),
                         ["failed job07: the worker was ended by SIGSEGV",
                          "failed job08: the worker ended with exit code 3 and left no result"])
        self.assertEqual([batch.job(name) for name in good
                          if (batch.job(name) / "runs.txt").read_text().count("begin") != 1], [])
        self.expect_nothing_left(batch)

    def test_a_requeued_task_runs_again_and_one_with_a_result_does_not(self):
        batch = self.batch(5, seconds=0.5)
        batch.script("job00", JOB.format(seconds=0.1) + "sleep 30")
        batch.script("job01", "rmdir running 2> /dev/null\n" +
                     JOB.format(seconds=4).replace("sleep 4", "test -e second || { touch second; sleep 30; }"))
        batch.start()
        wait_until(lambda: "job00" in batch.results() and (batch.job("job01") / "second").exists(), 20, "nothing ran")
        number = next(batch.folder.glob("slurm/*/number")).read_text().strip()
        self.slurm.run("scontrol", "requeue", f"{number}_0")
        self.slurm.run("scontrol", "requeue", f"{number}_1")
        deadline = time.monotonic() + 40
        while batch.process.poll() is None and time.monotonic() < deadline:
            self.start_requeued_now()
            time.sleep(0.3)
        self.expect_all_done(batch)
        self.assertEqual((batch.job("job00") / "runs.txt").read_text().count("begin"), 1)
        self.assertEqual((batch.job("job01") / "runs.txt").read_text().count("begin"), 2)

    def test_a_batch_that_was_killed_follows_what_it_submitted(self):
        batch = self.batch(22, seconds=0.5)
        batch.start()
        wait_until(lambda: len(batch.results()) >= 3, 20, "nothing ran")
        submitted = sorted(batch.arrays())
        batch.process.kill()
        batch.process.wait()
        batch.start()
        time.sleep(1)
        self.assertEqual([array for array in batch.arrays() if array not in submitted], [], "submitted anew")
        self.expect_all_done(batch)
        self.assertEqual(batch.done(), batch.names)
        runs = [(batch.job(name) / "runs.txt").read_text().count("begin") for name in batch.names]
        self.assertEqual(runs, [1] * 22)

    def test_an_array_without_a_trace_in_slurm_is_submitted_anew(self):
        batch = self.batch(3)
        batch.start()
        wait_until(lambda: batch.arrays() and (batch.arrays()[0] / "number").exists(), 20, "nothing submitted")
        batch.process.kill()
        batch.process.wait()
        # As if it had died between writing down what it submits and submitting it.
        array = batch.arrays()[0]
        self.slurm.run("scancel", f"--name={array.name}")
        wait_until(lambda: self.slurm.queue() == [], 20, "not cancelled")
        for name in batch.results():
            (batch.job(name) / "result.json").unlink()
        (array / "number").unlink()
        renamed = array.with_name("rooflab-0123456789abcdef")
        array.rename(renamed)
        batch.start()
        self.expect_all_done(batch)

    def test_an_early_end_cancels_what_was_submitted(self):
        batch = self.batch(15, seconds=20)
        batch.start()
        wait_until(lambda: len(batch.begun()) >= 2, 20, "nothing ran")
        batch.process.send_signal(signal.SIGTERM)
        self.assertEqual(batch.wait(), 0, batch.told())
        self.expect_nothing_left(batch)
        self.assertEqual(batch.done(), [])
        running = subprocess.run(["pgrep", "-f", str(batch.folder / "jobs")], stdout=subprocess.PIPE, check=False)
        self.assertEqual(running.stdout, b"")

    def test_what_a_person_cancels_is_not_submitted_again(self):
        batch = self.batch(7, seconds=20)
        batch.start()
        wait_until(lambda: len(batch.begun()) >= 4, 20, "nothing ran")
        self.slurm.run("scancel", f"--name={batch.arrays()[0].name}")
        self.assertEqual(batch.wait(), 0, batch.told())
        self.assertEqual(sorted(line for line in batch.told() if line.startswith("failed")),
                         [f"failed {name}: its task was cancelled in Slurm" for name in batch.names])
        self.expect_nothing_left(batch)

    def test_what_slurm_refuses_is_told_in_its_own_words(self):
        batch = self.batch(2)
        for argument, words in (("--constraint=nonesuch", "Invalid feature specification"),
                                ("--mem=999999M", "Memory specification can not be satisfied")):
            batch.start("0", argument)
            self.assertEqual(batch.wait(), 2)
            self.assertIn("Slurm does not take the jobs: sbatch failed: sbatch: error: ", batch.told()[-1])
            self.assertIn(words, batch.told()[-1])
            self.expect_nothing_left(batch)


class Slow(SlurmCase):
    """Waits for Slurm to notice that something died."""

    def test_keeps_to_the_number_of_tasks_at_a_time(self):
        batch = self.batch(13, seconds=0.2)
        running = batch.folder / "running"
        running.mkdir()
        for name in batch.names:
            batch.script(name, f"touch {running}/$$; ls {running} | wc -l > most.txt; sleep 0.3; "
                               f"rm {running}/$$; echo > result.json")
        batch.start("2")
        self.expect_all_done(batch)
        most = [int((batch.job(name) / "most.txt").read_text()) for name in batch.names]
        self.assertLessEqual(max(most), 2)

    def test_what_a_task_says_without_a_worker_is_told(self):
        batch = self.batch(1)
        batch.start("0", "--begin=now+2")

        def spoilt_and_given_up():
            for array in batch.arrays():
                if (array / "number").exists():
                    (array / "jobs.json").write_text("{")
            return any(line.startswith("failed") for line in batch.told())

        wait_until(spoilt_and_given_up, 60, "not given up")
        self.assertEqual(batch.wait(), 0, batch.told())
        self.assertIn("was lost 3 times in Slurm, the last time as FAILED", batch.told()[-1])
        self.assertIn("is no list of jobs", batch.told()[-1])

    def test_survives_the_death_of_the_controller(self):
        batch = self.batch(22, seconds=0.5)
        batch.start()
        wait_until(lambda: len(batch.results()) >= 3, 20, "nothing ran")
        self.slurm.kill("slurmctld")
        wait_until(lambda: any("waiting for Slurm" in line for line in batch.told()), 20, "it did not notice")
        self.slurm.start_controller()
        self.expect_all_done(batch)
        self.assertEqual(sum("waiting for Slurm" in line for line in batch.told()), 1, batch.told())
        self.assertEqual(batch.done(), batch.names)

    def test_survives_the_death_of_a_node(self):
        batch = self.batch(8, seconds=1)
        batch.start()
        wait_until(lambda: len(batch.begun()) >= 4, 20, "nothing ran")
        self.slurm.kill_node()
        wait_until(lambda: self.slurm.run("sinfo", "-h", "-o", "%T").stdout.startswith("down"), 30,
                   "Slurm did not notice")
        for name in batch.names:  # what it killed could not tidy up
            if (batch.job(name) / "running").exists():
                (batch.job(name) / "running").rmdir()
        self.slurm.start_node()
        deadline = time.monotonic() + 40
        while batch.process.poll() is None and time.monotonic() < deadline:
            self.start_requeued_now()
            time.sleep(0.3)
        self.expect_all_done(batch)
        self.assertEqual(batch.done(), batch.names)
        again = [name for name in batch.names if (batch.job(name) / "runs.txt").read_text().count("begin") > 1]
        self.assertNotEqual(again, [], "nothing was lost")


def main():
    global PROGRAM
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    try:
        with tempfile.TemporaryDirectory(prefix="rooflab-slurm-") as folder:
            PrivateSlurm(folder).stop()
    except Unavailable as reason:
        print(f"skipped: {reason}")
        return SKIPPED
    return 0 if unittest.main(exit=False, verbosity=2).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""scripts/try_on and bare_system, with a system that has this machine's programs in place of one from the network."""

import importlib.machinery
import importlib.util
import io
import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True

import bare_system

HERE = pathlib.Path(__file__).resolve().parent


def load_try_on():
    loader = importlib.machinery.SourceFileLoader("try_on", str(HERE / "try_on"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("try_on", loader))
    sys.modules["try_on"] = module
    loader.exec_module(module)
    return module


try_on = load_try_on()
ROW = {"tried": "checkout", "system": "B", "compiler": "12.2.0", "cuda": "13.0", "date": "2026-01-02", "commit": "abc", "outcome": "passes",
       "minutes": "9"}


class TableTest(unittest.TestCase):
    def setUp(self):
        self.holder = tempfile.TemporaryDirectory()
        self.addCleanup(self.holder.cleanup)
        folder = pathlib.Path(self.holder.name)
        before = try_on.DATA, try_on.PAGE
        self.addCleanup(lambda: (setattr(try_on, "DATA", before[0]), setattr(try_on, "PAGE", before[1])))
        try_on.DATA, try_on.PAGE = folder / "systems.csv", folder / "systems.md"
        try_on.DATA.write_text(",".join(ROW) + "\n")
        try_on.PAGE.write_text("before\n<!-- systems -->\nold\n<!-- end of systems -->\nafter\n")

    def test_a_system_has_a_row_for_each_thing_that_was_tried_on_it_the_latest(self):
        for row in (ROW, {**ROW, "system": "A"}, {**ROW, "tried": "wheel"}, {**ROW, "outcome": "fails at scripts/demo"}):
            try_on.keep(row)
        self.assertEqual([(row["tried"], row["system"], row["outcome"]) for row in try_on.rows()],
                         [("checkout", "A", "passes"), ("checkout", "B", "fails at scripts/demo"), ("wheel", "B", "passes")])

    def test_the_page_has_the_rows_and_keeps_what_is_around_them(self):
        try_on.keep(ROW)
        page = try_on.page_with_table()
        self.assertTrue(page.startswith("before\n<!-- systems -->\n| tried | system |"))
        self.assertTrue(page.endswith("| checkout | B | 12.2.0 | 13.0 | 2026-01-02 | abc | passes | 9 |\n<!-- end of systems -->\nafter\n"))


class SuiteTest(unittest.TestCase):
    def test_names_that_lead_elsewhere_are_refused(self):
        for suite in ("../../etc", "", "a b", "--help"):
            with self.assertRaisesRegex(bare_system.BareSystemError, "is no name of a suite"):
                bare_system._is_of_ubuntu(suite)


@unittest.skipIf(os.geteuid() != 0 or bare_system.missing_tools(), "this needs root, debootstrap and bubblewrap")
class BareSystemTest(unittest.TestCase):
    def setUp(self):
        self.holder = tempfile.TemporaryDirectory()
        self.addCleanup(self.holder.cleanup)
        self.folder = pathlib.Path(self.holder.name).resolve()
        base = self.folder / "bases/none"
        for name in ("etc", "usr", "proc", "dev", "sys", "home", "var/cache/apt/archives"):
            (base / name).mkdir(parents=True)
        for name in ("bin", "sbin", "lib", "lib64"):
            (base / name).symlink_to(f"usr/{name}")
        for name in ("passwd", "group", "shadow", "resolv.conf"):
            (base / "etc" / name).touch()

    def system(self):
        system = bare_system.BareSystem("none", self.folder)
        system.bind("/usr", "/usr", read_only=True)
        return system

    def test_commands_see_it_alone_and_a_student_is_not_root(self):
        with self.system() as system:
            self.assertEqual(system.output("ls", "/home"), "student")
            self.assertEqual(system.output("id", "--user"), "0")
            self.assertEqual(system.output("bash", "-c", "id --user; echo $HOME; touch ~/mine", as_student=True), "1000\n/home/student")
            self.assertTrue((system.root / "home/student/mine").exists())
        self.assertFalse(system.root.exists())

    def test_a_system_without_cuda_and_clone_says_so(self):
        (self.folder / "bases/none/etc/os-release").write_text('NAME="None"\nPRETTY_NAME="None 1 (bare)"\n')
        with self.system() as system:
            facts = try_on.facts(system)
        self.assertEqual((facts["system"], facts["cuda"], facts["commit"]), ("None 1 (bare)", "-", "-"))

    def test_the_step_that_fails_is_named_with_its_log(self):
        steps = [try_on.Step("first", "echo one", "/"), try_on.Step("second", "echo two; exit 3", "/"), try_on.Step("third", "echo three", "/")]
        log = self.folder / "none.log"
        log.write_text("")
        shown = io.StringIO()
        with self.system() as system, contextlib.redirect_stdout(shown):
            failed = try_on.failed_step(system, steps, log)
        self.assertEqual(failed.name, "second")
        self.assertIn("two\ntry_on: second ended with 3 and not 0", shown.getvalue())
        self.assertIn("$ echo one\none\n", log.read_text())
        self.assertNotIn("three", log.read_text())

    def test_two_at_a_time_are_refused(self):
        with self.system(), self.assertRaisesRegex(bare_system.BareSystemError, "is in use"):
            with self.system():
                pass

    def test_one_that_is_killed_leaves_no_mount_and_no_process(self):
        program = (f"import sys; sys.path.insert(0, {str(HERE)!r}); import bare_system, pathlib\n"
                   f"system = bare_system.BareSystem('none', pathlib.Path({str(self.folder)!r}))\n"
                   "system.bind('/usr', '/usr', read_only=True)\n"
                   "with system: system.run('bash', '-c', 'touch /begun; sleep 1001')")
        started = subprocess.Popen([sys.executable, "-B", "-c", program])
        begun = self.folder / "none/begun"
        self.wait_for(begun.exists)
        started.send_signal(signal.SIGKILL)
        started.wait()
        self.wait_for(lambda: not self.processes_in(self.folder / "none"))
        self.assertNotIn(str(self.folder), pathlib.Path("/proc/self/mounts").read_text())

    def wait_for(self, condition):
        for _ in range(600):
            if condition():
                return
            time.sleep(0.1)
        self.fail("it did not come to that within a minute")

    def processes_in(self, root):
        """The processes whose root folder is that one."""
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if os.path.samestat(os.stat(process / "root"), os.stat(root)):
                    found.append(process.name)
        return found


if __name__ == "__main__":
    unittest.main()

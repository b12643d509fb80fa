"""A Slurm of one node that belongs to one test: own folder, own sockets, ports of the loopback interface only."""

import contextlib
import os
import pathlib
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol")


class Unavailable(Exception):
    """Slurm is not installed here, or its daemons do not start."""


def wait_until(holds, seconds, what):
    """Waits for `holds()` to be true, and returns it."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = holds()
        if value:
            return value
        time.sleep(0.1)
    raise TimeoutError(what)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def program(name):
    # Daemons are in sbin, which the PATH of plain users lacks.
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


class PrivateSlurm:
    """Starts munged, slurmctld and slurmd; `stop` ends them and whatever they run."""

    def __init__(self, folder, max_array_size=11, processors=4, memory_mib=1024):
        missing = [name for name in PROGRAMS if program(name) is None]
        if missing:
            raise Unavailable(f"not installed: {', '.join(missing)} (scripts/setup --with-slurm)")
        self.folder = pathlib.Path(folder)
        self.daemons = {}
        self.configure(max_array_size, processors, memory_mib)
        self.environment = dict(os.environ, SLURM_CONF=str(self.folder / "slurm.conf"))
        try:
            self.start_munged()
            self.start_controller()
            self.start_node()
            wait_until(self.node_is_idle, 30, "the node did not become idle")
        except (TimeoutError, OSError, subprocess.SubprocessError) as error:
            logs = "".join(self.log(name)[-2000:] for name in ("munged", "slurmctld", "slurmd"))
            self.stop()
            raise Unavailable(f"its daemons do not start: {error}\n{logs}") from error

    def configure(self, max_array_size, processors, memory_mib):
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(1024))
        key.chmod(0o400)
        user = pwd.getpwuid(os.geteuid()).pw_name
        settings = {
            "ClusterName": "private",
            "SlurmctldHost": "localhost(127.0.0.1)",
            "SlurmUser": user,
            "SlurmdUser": user,
            "SlurmctldPort": free_port(),
            "SlurmdPort": free_port(),
            "AuthType": "auth/munge",
            "AuthInfo": f"socket={self.folder}/munge.socket",
            "CredType": "cred/munge",
            "StateSaveLocation": self.folder / "state",
            "SlurmdSpoolDir": self.folder / "spool",
            "SlurmctldPidFile": self.folder / "slurmctld.pid",
            "SlurmdPidFile": self.folder / "slurmd.pid",
            "SelectType": "select/cons_tres",
            "SelectTypeParameters": "CR_Core_Memory",
            "ProctrackType": "proctrack/linuxproc",
            "TaskPlugin": "task/none",
            "JobAcctGatherType": "jobacct_gather/none",
            "MpiDefault": "none",
            "ReturnToService": 2,
            "AccountingStorageType": "accounting_storage/none",
            "JobCompType": "jobcomp/filetxt",
            "JobCompLoc": self.folder / "completed.txt",
            "SlurmdParameters": "config_overrides",
            "DefMemPerCPU": 16,
            "MaxArraySize": max_array_size,
            # As quick as Slurm can be: a test waits for all of this.
            "SchedulerParameters": "batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1",
            "SlurmdTimeout": 4,
            "SlurmctldTimeout": 4,
            "MessageTimeout": 5,
            "KillWait": 1,
            "CompleteWait": 0,
            "RequeueExit": "",
        }
        lines = [f"{name}={value}" for name, value in settings.items() if value != ""]
        lines.append(f"NodeName=node0 NodeHostname={socket.gethostname()} NodeAddr=127.0.0.1 "
                     f"CPUs={processors} RealMemory={memory_mib} State=UNKNOWN")
        lines.append("PartitionName=main Nodes=node0 Default=YES MaxTime=INFINITE State=UP")
        (self.folder / "slurm.conf").write_text("\n".join(lines) + "\n")

    def start(self, name, *arguments, **more):
        with open(self.folder / f"{name}.log", "ab") as log:
            self.daemons[name] = subprocess.Popen([program(name), *arguments], stdin=subprocess.DEVNULL, stdout=log,
                                                  stderr=log, start_new_session=True, **more)

    def start_munged(self):
        self.start("munged", "--foreground", "--force", f"--key-file={self.folder}/munge.key",
                   f"--socket={self.folder}/munge.socket", f"--pid-file={self.folder}/munged.pid",
                   f"--log-file={self.folder}/munged.txt", f"--seed-file={self.folder}/munged.seed")
        wait_until((self.folder / "munge.socket").exists, 10, "munged has no socket")

    def start_controller(self):
        self.start("slurmctld", "-D", "-f", str(self.folder / "slurm.conf"), env=self.environment)
        wait_until(lambda: self.run("scontrol", "ping", check=False).stdout.find("is UP") >= 0, 20,
                   "slurmctld does not answer")

    def start_node(self):
        self.start("slurmd", "-D", "-N", "node0", "-f", str(self.folder / "slurm.conf"), env=self.environment)

    def node_is_idle(self):
        return self.run("sinfo", "-h", "-o", "%T", check=False).stdout.strip() == "idle"

    def kill(self, name):
        """kill -9, as a crash would."""
        daemon = self.daemons.pop(name)
        daemon.kill()
        daemon.wait()

    def kill_node(self):
        """The node dies, with all that runs on it."""
        self.kill("slurmd")
        for process in self.steps():
            for one in [*descendants(process), process]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(one, signal.SIGKILL)

    def steps(self):
        """The processes that run this Slurm's tasks: slurmstepd leaves its parent, and names its spool folder nowhere
        but in its environment."""
        mark = f"SLURM_CONF={self.folder}/slurm.conf".encode()
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    if (entry / "comm").read_text().startswith("slurmstepd") and \
                            mark in (entry / "environ").read_bytes():
                        found.append(int(entry.name))
        return found

    def run(self, *command, check=True, timeout=30):
        return subprocess.run(command, env=self.environment, check=check, timeout=timeout, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def queue(self, what="%F_%K %T"):
        """Tasks that are not at their end, one line each."""
        return self.run("squeue", "-h", "-r", "-o", what).stdout.split("\n")[:-1]

    def log(self, name):
        with contextlib.suppress(OSError):
            return (self.folder / f"{name}.log").read_text(errors="replace")
        return ""

    def stop(self):
        if "slurmd" in self.daemons:
            self.kill_node()
        for name in list(self.daemons):
            self.kill(name)


def descendants(process):
    found = []
    with contextlib.suppress(OSError):
        for task in pathlib.Path(f"/proc/{process}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += [int(child), *descendants(int(child))]
    return found

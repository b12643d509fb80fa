"""A bare Debian or Ubuntu in a folder, and commands in it: debootstrap makes it, bubblewrap runs them.

No mount and no process outlives the program that uses this, even if that is killed: debootstrap and each command have mount and
process namespaces of their own, which end with it. Needs root, since a system's files have owners.
"""

import fcntl
import os
import pathlib
import shutil
import subprocess
import urllib.request

DEBIAN = "http://deb.debian.org/debian"
UBUNTU = "http://archive.ubuntu.com/ubuntu"
SCRIPTS = pathlib.Path("/usr/share/debootstrap/scripts")  # "gutsy" is that of all of Ubuntu's suites since
UBUNTU_KEYS = pathlib.Path("/usr/share/keyrings/ubuntu-archive-keyring.gpg")
# Ends with its parent, and takes all that it started and mounted along.
CONTAINED = ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--kill-child", "--mount-proc"]
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
STUDENT = 1000  # user and group


class BareSystemError(Exception):
    """Why there is no such system, and what to do."""


def default_folder():
    """Where systems are kept: rooflab/systems in the user's cache."""
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "rooflab/systems"


def missing_tools():
    return [tool for tool in ("debootstrap", "bwrap", "setpriv", "unshare") if shutil.which(tool) is None]


def _is_of_ubuntu(suite):
    """Whether a suite is one of Ubuntu's and not of Debian's. Raises BareSystemError for what is neither."""
    if not suite.isalnum():
        raise BareSystemError(f"{suite!r} is no name of a suite, as trixie or noble is")
    script = SCRIPTS / suite
    if script.exists():
        return "ubuntu" in script.read_text()
    try:  # Ubuntu has one newer than this debootstrap every half a year
        urllib.request.urlopen(f"{UBUNTU}/dists/{suite}/Release", timeout=60).close()
        return True
    except OSError as error:
        raise BareSystemError(f"neither debootstrap nor {UBUNTU} knows a suite {suite} ({error})") from error


def _sources(suite, is_ubuntu):
    """As an installed system has them: with updates and security fixes."""
    if is_ubuntu:
        return "".join(f"deb {UBUNTU} {pocket} main universe\n" for pocket in (suite, f"{suite}-updates", f"{suite}-security"))
    return (f"deb {DEBIAN} {suite} main\ndeb {DEBIAN} {suite}-updates main\n"
            f"deb http://deb.debian.org/debian-security {suite}-security main\n")


def _make_base(suite, base):
    """What `debootstrap --variant=minbase` gives, once for each suite; whole or not there."""
    is_ubuntu = _is_of_ubuntu(suite)
    if is_ubuntu and not UBUNTU_KEYS.exists():
        print(f"{UBUNTU_KEYS} is missing (package ubuntu-archive-keyring), so the signature of Ubuntu's archive is not checked")
    partial = base.with_name(base.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.parent.mkdir(parents=True, exist_ok=True)
    log = base.with_name(base.name + ".log")
    with log.open("w") as stream:
        of_whom = ["--components=main,universe", suite, partial, UBUNTU, "gutsy"] if is_ubuntu else [suite, partial, DEBIAN]
        done = subprocess.run([*CONTAINED, "debootstrap", "--variant=minbase", *of_whom], stdin=subprocess.DEVNULL, stdout=stream,
                              stderr=stream)
    if done.returncode != 0:
        shutil.rmtree(partial, ignore_errors=True)
        raise BareSystemError(f"debootstrap {suite} fails; its log: {log}")
    (partial / "etc/apt/sources.list").write_text(_sources(suite, is_ubuntu))
    partial.rename(base)


class BareSystem:
    """A fresh copy of a suite's base, with a user `student`; a context manager that removes it at the end."""

    def __init__(self, suite, folder, keep=False):
        """@param keep leaves the copy where it is"""
        if os.geteuid() != 0:
            raise BareSystemError("only root can make a system: run this as root")
        if missing := missing_tools():
            raise BareSystemError(f"missing {', '.join(missing)}: apt-get install debootstrap bubblewrap util-linux")
        self._folder, self._suite, self._keep = folder, suite, keep
        self.root = folder / suite
        self._binds = {}
        self._environment = {"PATH": PATH, "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}

    def __enter__(self):
        self._folder.mkdir(parents=True, exist_ok=True)
        self._lock = (self._folder / f"{self._suite}.lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock.close()
            raise BareSystemError(f"{self.root} is in use: wait, or name another --folder") from None
        base = self._folder / "bases" / self._suite
        if not base.exists():
            _make_base(self._suite, base)
        subprocess.run(["rm", "-rf", "--one-file-system", self.root], check=True)
        subprocess.run(["cp", "-a", base, self.root], check=True)
        packages = self._folder / "packages" / self._suite  # downloaded once
        (packages / "partial").mkdir(parents=True, exist_ok=True)
        self.bind(packages, "/var/cache/apt/archives")
        self.output("useradd", "--create-home", "--shell", "/bin/bash", "--uid", str(STUDENT), "student")
        return self

    def __exit__(self, *_):
        if not self._keep:
            subprocess.run(["rm", "-rf", "--one-file-system", self.root], check=True)
        self._lock.close()

    def bind(self, outside, inside, read_only=False):
        """A file or folder of this machine in the system, for the commands to come."""
        self._binds[inside] = (pathlib.Path(outside).resolve(), read_only)

    def set_environment(self, **variables):
        self._environment.update(variables)

    def trust(self, certificates):
        """Has pip and OpenSSL trust the certificates of a file: a network's proxy may have one of its own."""
        inside = "/etc/certificates.pem"
        shutil.copyfile(certificates, f"{self.root}{inside}")
        self.set_environment(PIP_CERT=inside, SSL_CERT_FILE=inside)

    def _words(self, command, folder, as_student):
        words = ["bwrap", "--die-with-parent", "--unshare-pid", "--unshare-ipc", "--cap-add", "ALL", "--bind", self.root, "/",
                 "--dev", "/dev", "--proc", "/proc", "--ro-bind", "/sys", "/sys", "--ro-bind", os.path.realpath("/etc/resolv.conf"),
                 "/etc/resolv.conf"]
        for inside, (outside, read_only) in self._binds.items():
            words += ["--ro-bind" if read_only else "--bind", outside, inside]
        environment = {**self._environment, "HOME": "/home/student" if as_student else "/root"}
        words += ["--clearenv", *(word for name, value in environment.items() for word in ("--setenv", name, value))]
        words += ["--chdir", folder, "--"]
        if as_student:
            words += ["setpriv", f"--reuid={STUDENT}", f"--regid={STUDENT}", "--clear-groups", "--inh-caps=-all"]
        return [str(word) for word in (*words, *command)]

    def run(self, *command, folder="/", as_student=False, log=None):
        """Runs a command in the system. @param log takes what it prints. @return its exit code"""
        return subprocess.run(self._words(command, folder, as_student), stdin=subprocess.DEVNULL, stdout=log,
                              stderr=subprocess.STDOUT if log else None).returncode

    def output(self, *command, folder="/", as_student=False):
        """What a command prints. Raises BareSystemError when it fails."""
        done = subprocess.run(self._words(command, folder, as_student), stdin=subprocess.DEVNULL, text=True, capture_output=True)
        if done.returncode != 0:
            raise BareSystemError(f"in {self._suite}, {' '.join(command)} fails:\n{done.stdout}{done.stderr}")
        return done.stdout.strip()

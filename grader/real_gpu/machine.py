"""What a run on a GPU was made on: no names, no addresses, no processes of others."""

import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys

ANSWER_S = 30
OF_GPU = ("name", "driver_version", "memory.total", "compute_mode", "mig.mode.current", "persistence_mode", "clocks.max.sm",
          "clocks.max.mem", "power.limit", "ecc.mode.current", "pcie.link.gen.max", "display_active")
ASK_RUNTIME = """
import ctypes, sys
runtime = ctypes.CDLL(sys.argv[1])
value = ctypes.c_int(0)
for name in ("cudaRuntimeGetVersion", "cudaDriverGetVersion"):
    getattr(runtime, name)(ctypes.byref(value))
    print(value.value // 1000, value.value % 1000 // 10, sep=".")
"""


def said(*command):
    """What a program says; empty where it cannot be asked."""
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        output, _ = process.communicate(timeout=ANSWER_S)
    except OSError:
        return ""
    except subprocess.TimeoutExpired:
        process.kill()  # and no wait for it: a driver that does not answer may keep it
        return ""
    return output.decode(errors="replace").strip() if process.returncode == 0 else ""


def first(pattern, text):
    found = re.search(pattern, text, re.MULTILINE)
    return found[1].strip() if found else ""


def read(file):
    try:
        return pathlib.Path(file).read_text(errors="replace")
    except OSError:
        return ""


def gpus():
    found = []
    for line in said("nvidia-smi", f"--query-gpu={','.join(OF_GPU)}", "--format=csv,noheader").splitlines():
        found.append(dict(zip(OF_GPU, (value.strip() for value in line.split(",")))))
    return found


def cuda_versions(toolkit):
    runtimes = [str(toolkit / "lib64" / "libcudart.so.13")] if toolkit else []
    for runtime in [*runtimes, "libcudart.so.13"]:
        answer = said(sys.executable, "-c", ASK_RUNTIME, runtime).split()
        if len(answer) == 2:
            return answer
    return ["", ""]


def describe(toolkit):
    """Words by name; `gpus` is a list of those."""
    nvcc = str(toolkit / "bin" / "nvcc") if toolkit else "nvcc"
    runtime, driver = cuda_versions(toolkit)
    memory = int(first(r"^MemTotal:\s*(\d+)", read("/proc/meminfo")) or 0)
    described = {
        "system": first(r'^PRETTY_NAME="?([^"\n]*)', read("/etc/os-release")),
        "kernel": platform.release(),
        "C library": " ".join(platform.libc_ver()),
        "processor": first(r"^model name\s*:(.*)$", read("/proc/cpuinfo")),
        "processors": str(len(os.sched_getaffinity(0))),
        "memory": f"{memory >> 20} GiB",
        "user": "root" if os.geteuid() == 0 else "not root",
        "container": "yes" if os.path.exists("/.dockerenv") or "container=" in read("/proc/1/environ") else "not seen",
        "bubblewrap": said("bwrap", "--version") or ("there" if shutil.which("bwrap") else "none"),
        "kernel module": first(r"^NVRM version:(.*)$", read("/proc/driver/nvidia/version")),
        "CUDA of the driver": driver,
        "CUDA runtime": runtime,
        "nvcc": first(r"release (\S+), ", said(nvcc, "--version")),
        "host compiler": first(r"^(.*)$", said("g++", "--version")),
        "python": platform.python_version(),
        "other users of the GPU": str(len(said("nvidia-smi", "--query-compute-apps=used_memory",
                                               "--format=csv,noheader").splitlines())),
    }
    return {**{key: value or "unknown" for key, value in described.items()}, "gpus": gpus()}

"""A cell of CUDA: compiled by nvcc, and run on a simulated GPU or on the one that is there."""

import dataclasses
import json
import os
import pathlib
import re
import tempfile

from rooflab.errors import RooflabError
from rooflab.places import find_nvcc
from rooflab.programs import run
from rooflab.words import one_line

COMPILE_S = 300
FOUND = 86  # simgpu's exit code for a program that ended well and had findings
MOST_REPORT = 64 << 20
GPU_FILE = "/dev/nvidiactl"  # is there where an NVIDIA driver is
FILE = "cell.cu"  # as messages name the cell


@dataclasses.dataclass(frozen=True)
class CudaRun:
    """What became of a cell."""

    compiler: str = ""  # its messages
    compiled: bool = False
    out: str = ""
    error: str = ""  # what the program itself wrote to standard error
    notes: tuple = ()  # of simgpu, about the run as a whole
    code: int = 0
    timed_out: bool = False
    report: dict | None = None  # of simgpu
    replay: str = ""  # a page


@dataclasses.dataclass(frozen=True)
class CudaOptions:
    gpu: str = "a100"
    device: str = "sim"
    explore: bool = False
    roofline: bool = False
    checkers: bool = True
    timeout_s: float = 120


def run_cell(course, cell, options):
    """Compiles and runs the code of a cell, which counts as its lines from the second on: the first is the magic."""
    if options.device == "cuda" and not os.path.exists(GPU_FILE):
        raise RooflabError("there is no NVIDIA GPU here; leave out --device cuda, and the cell runs on a simulated one")
    if options.explore and not options.checkers:
        raise RooflabError("--explore shows what the checkers find: leave out --no-checkers")
    if (options.explore or options.roofline) and options.device == "cuda":
        raise RooflabError("--explore and --roofline show what a simulated GPU did: leave out --device cuda")
    nvcc = find_nvcc(course)
    capability = course.compute_capability(options.gpu)
    with tempfile.TemporaryDirectory(prefix="rooflab-") as name:
        folder = pathlib.Path(name)
        source = folder / FILE
        source.write_text("\n" + cell, encoding="utf-8")
        program = folder / "cell"
        done = _compile(course, nvcc, source, program, options.device, capability)
        messages = _without_folder(done.out + done.error, folder)
        if done.timed_out:
            messages += f"nvcc was stopped after {COMPILE_S} s\n"
        if done.code != 0 or not program.exists():
            return CudaRun(compiler=messages or "nvcc failed and said nothing\n")
        if options.device == "cuda":
            ran = run([program], options.timeout_s)
            return CudaRun(messages, True, _without_folder(ran.out, folder), _without_folder(ran.error, folder), (),
                           ran.code, ran.timed_out)
        return _simulate(course, program, folder, options, messages)


def _compile(course, nvcc, source, program, device, capability):
    # simgpu takes the place of the shared runtime; on a GPU nothing has to find it.
    for_device = ["-cudart", "static", "-arch=native"] if device == "cuda" else ["-cudart", "shared", f"-arch=sm_{capability}"]
    command = [nvcc, "-std=c++20", "-O2", "-lineinfo", *for_device, f"-I{course.root}/labs", source, "-o", program]
    toolkit = course.root / "build/lib/labs/toolkit.a"
    if toolkit.exists():
        command.append(toolkit)
    return run(command, COMPILE_S, folder=source.parent)


def _simulate(course, program, folder, options, messages):
    report, replay = folder / "report.json", folder / "replay.html"
    command = [course.simgpu, "run", "--gpu", options.gpu, "--report", report]
    if not options.checkers:
        command += ["--check", "none"]
    if options.explore:
        command += ["--explore", replay]
    ran = run([*command, "--", program], options.timeout_s)
    document = _read_report(report, folder)
    program_error, notes = split_error(_without_folder(ran.error, folder), document)
    page = _without_folder(replay.read_text(encoding="utf-8", errors="replace"), folder) if replay.exists() else ""
    # What nothing was written of, the simulator did not get to.
    if document is None and not ran.timed_out and ran.code in (2, 3):
        raise RooflabError(f"the simulated GPU could not run the cell: {one_line(ran.error)[-500:]}")
    return CudaRun(messages, True, _without_folder(ran.out, folder), program_error, notes,
                   0 if ran.code == FOUND else ran.code, ran.timed_out, document, page)


def _read_report(file, folder):
    try:
        if file.stat().st_size > MOST_REPORT:
            return None
        return json.loads(_without_folder(file.read_text(encoding="utf-8", errors="replace"), folder))
    except (OSError, ValueError):
        return None


def _without_folder(text, folder):
    """Names of the temporary folder mean nothing to anybody."""
    return text.replace(f"{folder}/", "")


def split_error(error, report):
    """What the program wrote to standard error, and what simgpu said of the run, but for its stories of findings."""
    beginnings = [f"[{finding['code']}]: " for finding in (report or {}).get("findings", [])[:1]]
    stories = re.search(rf"(?m)^(?:error|warning){re.escape(beginnings[0])}", error) if beginnings else None
    own, told = (error[:stories.start()], error[stories.start():]) if stories else (error, "")
    lines = own.splitlines(keepends=True)
    notes = [line for line in [*lines, *told.splitlines()] if line.startswith("simgpu: ")]
    counted = re.compile(r"simgpu: \d+ findings?\s*$")
    return ("".join(line for line in lines if not line.startswith("simgpu: ")),
            tuple(line.strip() for line in notes if not counted.match(line)))

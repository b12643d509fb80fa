"""A course whose programs say what a test wants, hostile or not."""

import json
import os
import pathlib
import stat
import tempfile

SIMGPU = '''#!/usr/bin/env python3
import os, pathlib, sys
said = pathlib.Path(__file__).resolve().parents[2] / "said"
words = sys.argv[1:]
(said / "simgpu.words").write_text("\\n".join(words))
if (said / "report.json").exists():
    pathlib.Path(words[words.index("--report") + 1]).write_bytes((said / "report.json").read_bytes())
if "--explore" in words:
    pathlib.Path(words[words.index("--explore") + 1]).write_bytes((said / "page.html").read_bytes())
os.write(1, (said / "out").read_bytes())
os.write(2, (said / "error").read_bytes())
sys.exit(int((said / "code").read_text()))
'''
GRADER = '''#!/usr/bin/env python3
import os, pathlib, sys
said = pathlib.Path(__file__).resolve().parents[2] / "said"
words = sys.argv[1:]
(said / "grader.words").write_text("\\n".join(words))
for option, name in (("--json", "grade.json"), ("--html", "page.html")):
    if option in words and (said / name).exists():
        pathlib.Path(words[words.index(option) + 1]).write_bytes((said / name).read_bytes())
os.write(1, (said / "out").read_bytes())
os.write(2, (said / "error").read_bytes())
sys.exit(int((said / "code").read_text()))
'''
NVCC = '''#!/usr/bin/env python3
import os, pathlib, sys
said = pathlib.Path(os.environ["ROOFLAB_ROOT"]) / "said"
words = sys.argv[1:]
(said / "nvcc.words").write_text("\\n".join(words))
source = next(word for word in words if word.endswith(".cu"))
(said / "source.cu").write_bytes(pathlib.Path(source).read_bytes())
os.write(2, (said / "compiler").read_bytes())
if not (said / "broken").exists():
    program = pathlib.Path(words[words.index("-o") + 1])
    program.write_text("#!/bin/sh\\necho on the GPU\\n")
    program.chmod(0o755)
sys.exit(1 if (said / "broken").exists() else 0)
'''
PART = '''number = 1
title = "Fakes"
[[task]]
id = "gemv"
file = "gemv.cu"
[[task]]
id = "answers"
file = "answers.toml"
'''
GPU = '''compute_capability = [8, 0]
[peak_tflops]
fp32 = 19.5
[memory]
dram_gb_per_s = 1555
'''


class FakeCourse:
    """Sets ROOFLAB_ROOT to a folder of its own until it is closed."""

    def __init__(self):
        self._holder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self._holder.name).resolve()
        self.said = self.root / "said"
        for file, text in {"labs/course.toml": "", "labs/part1-fakes/part.toml": PART, "specs/gpus/a100.toml": GPU,
                           "starter/part1-fakes/gemv.cu": "// TODO\n", "said/compiler": "", "said/out": "",
                           "said/error": "", "said/code": "0", "said/page.html": "<!doctype html><p>page</p>"}.items():
            (self.root / file).parent.mkdir(parents=True, exist_ok=True)
            (self.root / file).write_text(text)
        self.program("build/bin/simgpu", SIMGPU)
        self.program("build/bin/grader", GRADER)
        self.program("bin/nvcc", NVCC)
        self._before = {name: os.environ.get(name) for name in ("ROOFLAB_ROOT", "ROOFLAB_NVCC", "ROOFLAB_SUBMISSION")}
        os.environ.update(ROOFLAB_ROOT=str(self.root), ROOFLAB_NVCC=str(self.root / "bin/nvcc"))
        os.environ.pop("ROOFLAB_SUBMISSION", None)

    def close(self):
        for name, value in self._before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        self._holder.cleanup()

    def program(self, name, text):
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(file.stat().st_mode | stat.S_IXUSR)

    def says(self, out=b"", error=b"", code=0, **documents):
        (self.said / "out").write_bytes(out)
        (self.said / "error").write_bytes(error)
        (self.said / "code").write_text(str(code))
        for name, document in documents.items():
            (self.said / f"{name}.json").write_text(json.dumps(document))

    def words_of(self, program):
        return (self.said / f"{program}.words").read_text().split("\n")


def site(file="cell.cu", line=3, action="reads 4 bytes"):
    return {"file": file, "line": line, "column": 1, "block": [0, 0, 0], "thread": [63, 0, 0], "warp": 1, "action": action,
            "inlined_at": []}


def finding(message="A thread reads too early", kernel="k", **more):
    return {**site(), "code": "RL0302", "kind": "race", "kernel": kernel, "object": "", "message": message, "occurrences": 2,
            "other": site(line=2, action="writes 4 bytes"), **more}


def kernel(name="k", time_us=10.0):
    return {"name": name, "time_us": time_us, "time_band_us": [8.0, 12.0], "grid": [4, 1, 1], "block": [256, 1, 1],
            "failed": False, "explanation": {"limiter": "DRAM traffic"},
            "counters": {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": 1000.0, "dram__bytes_read.sum": 8000.0,
                         "dram__bytes_write.sum": 4000.0}}


def report(findings=(), kernels=()):
    return {"findings": list(findings), "kernels": list(kernels)}


def diagnostic(**more):
    return {"code": "RL0302", "message": "`partial` is read too early", "file": "gemv.cu", "line": 1, "context": "", "groups": [],
            "labels": [{"file": "gemv.cu", "line": 1, "column": 1, "length": 2, "excerpt": "x = y;", "text": "thread 0 reads"}],
            "evidence": ["3 of 4 differ"], "pattern": [], "notes": ["a note"], "help": "a barrier", "commands": {}, **more}


def grade(verdict="race", score=0, diagnostics=None, output="", tasks=("gemv",)):
    return {"part": 1, "score": score, "max_score": 15, "bonus": 0, "tasks": [
        {"id": name, "bonus": False, "verdict": verdict, "score": score, "max_score": 15, "output": output,
         "diagnostics": [diagnostic()] if diagnostics is None else diagnostics} for name in tasks]}

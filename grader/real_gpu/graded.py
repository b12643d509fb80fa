"""What the tests on a real GPU share: where results go, and a grading by the real program."""

import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from json_schema import faults as schema_faults  # noqa: E402

LONGEST_GRADE_S = 3000
SEED = "20240229"


def results_folder(build):
    """Where measurements are kept: $ROOFLAB_GPU_RESULTS, or gpu_results in the build folder."""
    folder = pathlib.Path(os.environ.get("ROOFLAB_GPU_RESULTS") or build / "gpu_results")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def grade(build, part, submission, device, results, name, more=()):
    """Grades a part; keeps JSON, page and terminal output in `results`. Returns (document or None, exit code, output)."""
    json_file, html = results / f"{name}.json", results / f"{name}.html"
    json_file.unlink(missing_ok=True)
    done = subprocess.run([build / "bin" / "grader", "--part", str(part), "--submission", submission, "--device", device,
                           "--seed", SEED, "--json", json_file, "--html", html, *more],
                          cwd=ROOT, text=True, timeout=LONGEST_GRADE_S, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, errors="replace")
    (results / f"{name}.txt").write_text(done.stdout)
    try:
        return json.loads(json_file.read_text()), done.returncode, done.stdout
    except (OSError, ValueError):
        return None, done.returncode, done.stdout


def document_faults(document):
    """What of a grade is not as specs/grade.schema.json says."""
    schema = json.loads((ROOT / "specs" / "grade.schema.json").read_text())
    return list(schema_faults(document, schema, schema))

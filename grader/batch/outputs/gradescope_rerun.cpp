#include "grader/batch/outputs/gradescope_rerun.h"

namespace rooflab {
namespace {

constexpr const char* kSetup = R"sh(#!/usr/bin/env bash
# Gradescope runs this once, when it makes the autograder.
set -euo pipefail
command -v python3 > /dev/null || { apt-get update && apt-get install -y python3; }
)sh";

// The number of a submission:
// https://gradescope-autograders.readthedocs.io/en/latest/submission_metadata/
constexpr const char* kRun = R"py(#!/usr/bin/env python3
"""Shows the grade that was given elsewhere. Nothing that a student handed in is run, or read."""
import json
import os
import pathlib
import shutil
import sys

root = pathlib.Path(os.environ.get("AUTOGRADER_ROOT", "/autograder"))
number = int(json.loads((root / "submission_metadata.json").read_text())["id"])
result = root / "source" / "results" / f"{number}.json"
if not result.is_file():
    # Without results.json Gradescope gives no score, and tells the instructors.
    sys.exit(f"submission {number} was not graded with the class: export the class again, and grade it")
shutil.copyfile(result, root / "results" / "results.json")
)py";

}  // namespace

std::string rerun_result_name(const std::string& submission) {
  return "results/" + submission + ".json";
}

std::map<std::string, std::string> rerun_programs() {
  return {{"setup.sh", kSetup}, {"run_autograder", kRun}};
}

}  // namespace rooflab

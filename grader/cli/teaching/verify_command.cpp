#include "grader/cli/teaching/verify_command.h"

#include <iostream>

#include "grader/author/verify/verify.h"
#include "grader/cli/progress_line.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

constexpr int kNotProved = 1;
constexpr int kFault = 3;

int exit_code_of(const verify::Report& report) {
  if (report.has_fault()) return kFault;
  return report.proved() ? 0 : kNotProved;
}

}  // namespace

int verify_course(std::ostream& out, const VerifyOptions& options,
                  const Installation& installation) {
  ProgressLine progress;
  const verify::Report report =
      verify::prove(installation,
                    {.parts = options.parts,
                     .gpus = options.gpus,
                     .proofs = options.proofs,
                     .mistakes = options.mistakes,
                     .right = options.right},
                    {.jobs = options.jobs}, [&](const std::string& text) { progress.show(text); });
  progress.clear();
  const bool json_on_stdout = options.json == "-";
  // With the document on stdout, people read the matrix on stderr.
  std::ostream& people = json_on_stdout ? std::cerr : out;
  people << verify::failures_text(report) << verify::matrix_text(report) << std::flush;
  if (json_on_stdout) {
    out << verify::to_json(report) << std::flush;
  } else if (!options.json.empty()) {
    write_file_atomically(options.json, verify::to_json(report));
  }
  return exit_code_of(report);
}

}  // namespace rooflab

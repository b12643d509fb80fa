#pragma once

#include <map>
#include <string>
#include <vector>

#include "grader/author/verify/claim.h"

namespace rooflab::verify {

/// A claim and what became of it.
struct Result {
  Claim claim;
  Outcome outcome;
};

/// All that was to be proved.
struct Report {
  std::map<int, std::string> parts = {};  ///< number -> title
  std::vector<std::string> gpus = {};
  std::vector<Result> results = {};
  double seconds = 0;  ///< wall time of all

  bool proved() const;
  bool has_fault() const;
};

/// What the first diagnostics of planted mistakes are about, counted.
struct Confusion {
  std::size_t recognised = 0;
  std::size_t unrecognised = 0;
  std::size_t wrongly_recognised = 0;
};
Confusion confusion_of(const Report& report, const std::string& gpu, bool held_out);

/// A story for each failure, with the command that shows it again; empty when all is proved.
std::string failures_text(const Report& report);

/// Parts by proofs and GPUs, then what is about the whole course, what the GPUs cannot run, how
/// many planted mistakes were recognised, and a last line that sums up. At most 100 columns, but
/// for names that are longer.
std::string matrix_text(const Report& report);

/// The same as a document, schema 1: of each claim its state, and all counts.
std::string to_json(const Report& report);

}  // namespace rooflab::verify

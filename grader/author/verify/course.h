#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "grader/author/verify/claim.h"
#include "grader/author/verify/mistake.h"
#include "grader/author/verify/right_submission.h"
#include "grader/pipeline/installation.h"
#include "grader/spec/part.h"
#include "specs/gpu_spec.h"

namespace rooflab::verify {

/// Which proofs are wanted; what is empty chooses all.
struct Choice {
  std::vector<int> parts = {};
  std::vector<std::string> gpus = {};  ///< files of specs/gpus; empty: those of labs/course.toml
  std::vector<std::string> proofs = {};
  std::vector<std::string> mistakes = {};  ///< with no `proofs`, only mistakes are proved
  std::vector<std::string> right = {};     ///< and only right submissions
};

/// What is to be proved, of what.
struct Course {
  Installation installation;
  std::vector<PartSpec> parts;
  std::vector<gpu_spec::GpuSpec> gpus;
  std::set<Proof> proofs;
  std::map<int, std::vector<Mistake>> mistakes;       ///< by part
  std::map<int, std::vector<RightSubmission>> right;  ///< by part

  bool wants(Proof proof) const { return proofs.contains(proof); }
};

/// Reads the course, as far as it was chosen.
/// @throws UsageError for a choice that matches nothing, UnknownPart, gpu_spec::SpecError,
/// SpecError
Course load_course(const Installation& installation, const Choice& choice);

/// All that has to be proved, in the order of the matrix: for each proof each part on each GPU,
/// then what is about the whole course. The course has to outlive the checks.
/// @throws UsageError when there is nothing to prove.
std::vector<Check> plan(const Course& course);

}  // namespace rooflab::verify

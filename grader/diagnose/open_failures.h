#pragma once

#include <string>
#include <utility>
#include <vector>

#include "grader/spec/result.h"

namespace rooflab {

/// The failures of a task's public cases, which decide what a student may read of a hidden case's.
/// Where the submission fails is the submission's choice: a branch on the size, with one wrong
/// access on a line of its own for each, tells a hidden case's sizes by the line. A place is
/// therefore shown only if a public case has failed there by the same code.
class OpenFailures {
 public:
  /// @param file of the task, which a hidden failure without a place names
  explicit OpenFailures(std::string file) : file_(std::move(file)) {}

  /// What is said of a public case that fails.
  void add(const std::vector<Diagnostic>& stories);

  /// @param story of a hidden case
  /// @returns the public case's story where one has failed in the same way; else `story` without
  /// its places and names. How values are wrong (RL04xx), and what ends the whole task, has neither
  /// and stays.
  Diagnostic told_of_hidden(Diagnostic story) const;

 private:
  std::string file_;
  std::vector<Diagnostic> stories_;
};

}  // namespace rooflab

#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "grader/batch/store/store.h"
#include "grader/pipeline/installation.h"
#include "grader/pipeline/toolchain.h"
#include "grader/spec/answers.h"
#include "grader/spec/part.h"

namespace rooflab {

/// The parts that a class is graded in, and what decides their outcomes besides a submission.
struct Course {
  std::vector<PartSpec> parts;
  std::map<int, std::string> versions;  ///< part -> one line that changes with any of its files

  double hint_cost = 0;           ///< see CourseSpec
  int versions_graded_again = 0;  ///< likewise

  /// Of each part, the keys of its questions.
  std::map<int, std::map<std::string, AnswerKey>> keys = {};

  /// Every file that a submission may hold: "part1-metrics/gemv.cu", and those that the grader
  /// writes there: how many hints were shown, and the runs of a work log.
  std::vector<std::string> wanted_files() const;
  /// The files of one part among those of a submission.
  static SourceFiles files_of(const PartSpec& part, const SourceFiles& files);
};

/// @throws SpecError for a part that is not there
Course load_course(const Installation& installation, const Toolchain& toolchain,
                   const std::vector<int>& parts);

/// The hash that the files of one part go by.
std::string source_hash(int part, const SourceFiles& files);

}  // namespace rooflab

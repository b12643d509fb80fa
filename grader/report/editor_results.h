#pragma once

#include <map>
#include <string>
#include <vector>

#include "grader/spec/result.h"
#include "simgpu/sarif/sarif.h"

namespace rooflab {

/// Where an editor finds what a grade is about.
struct EditorPlaces {
  std::string folder;  ///< of the part within the submission: "part1-metrics"
  std::map<std::string, std::string> files = {};  ///< by task, the student's file: "gemv.cu"
};

/// The diagnoses of a grade for an editor: the same texts as those of the JSON, and so nothing more
/// of hidden cases. Files are relative to the submission. What no line is known of has the task's
/// file for its place.
std::vector<simgpu::sarif::Result> editor_results(const GradeResult& result,
                                                  const EditorPlaces& places);

}  // namespace rooflab

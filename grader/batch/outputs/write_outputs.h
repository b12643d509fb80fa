#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "grader/batch/outputs/class_results.h"
#include "specs/gpu_spec.h"

namespace rooflab {

struct OutputOptions {
  bool leaderboard = false;
  std::string assignment = "Rooflab";  ///< heads Canvas's columns, and names the class page
  /// Part -> the number that Canvas gave to an assignment that is already there ("48213"); without
  /// one the import makes a new assignment.
  std::map<int, std::string> canvas_assignments = {};
  /// "RL0301" -> "shared memory is overwritten …": read_code_titles().
  std::map<std::string, std::string> code_titles = {};
};

/// Writes every output into `folder`, each file atomically, and removes what an earlier run left of
/// students who are gone:
///
///     grades.csv    one row per student and part, old score beside new
///     canvas.csv …  to be imported into the gradebooks: kClassTables (gradebooks.h)
///     gradescope/<student>.json
///     junit.xml
///     feedback/<student>.html
///     class.html
///     analysis.html, analysis.csv
/// @throws FileError after all of them were tried, for the first that failed
void write_outputs(const std::filesystem::path& folder, const ClassResults& results,
                   const LoadGrading& load, const gpu_spec::GpuSpec& gpu,
                   const OutputOptions& options);

/// The file name of a student's outputs, without extension: the key where that is safe, else a safe
/// form of it with a hash, so that no two students share one.
std::string file_stem(const std::string& student_key);

}  // namespace rooflab

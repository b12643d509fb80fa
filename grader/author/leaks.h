#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "grader/author/course_secrets.h"

namespace rooflab {

/// Something in a folder for students that they must not have.
struct Leak {
  std::filesystem::path file;  ///< relative to the folder
  int line = 0;                ///< from 1; 0: of no line, as in a compiled file
  std::string what;            ///< "solution", "hidden case", "answer key", "planted mistake", …
  std::string origin;  ///< "solutions/part1-metrics/gemv.cu:14"; empty when its name says all
  std::string words;   ///< what stands there, as far as it was recognised
};

/// Searches all files of a folder, compiled ones included, for the secrets of a course, for files
/// whose names say what they are (hidden.toml, *.key.toml, mistake.toml, right.toml, folders
/// `mistakes`, `right` and `oracle`), for marks of solutions, and for packed files, into which
/// nobody can see. At most one finding for each file and secret, by file and line.
/// docs/design/release.md says what counts.
/// @throws StarterError, SpecError or FileError when something cannot be read.
std::vector<Leak> find_leaks(const std::filesystem::path& folder, const CourseFolders& sources);

/// "handouts/part1.md:12: solution of solutions/part1-metrics/gemv.cu:14: …" in one line.
std::string describe(const Leak& leak);

}  // namespace rooflab

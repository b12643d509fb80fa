#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "grader/pipeline/installation.h"
#include "grader/spec/part.h"

namespace rooflab {

/// One implementation that a student's tests are run against: an entry of a library that was built
/// with the framework. Nothing of a student's is in the process that it is called in.
struct Implementation {
  std::filesystem::path library;
  std::string entry;    ///< "edges_2"
  std::string group;    ///< "edges"
  bool hidden = false;  ///< not in a student's copy of the course
};

/// The implementations of a `tests` task, by group in the order of part.toml and then by number.
/// Libraries offer them as ROOFLAB_ENTRY(<group>_<number>).
/// @throws InstallationError where a library is missing or broken, or a group has none.
std::vector<Implementation> find_implementations(const Installation& installation,
                                                 const PartSpec& part, const TaskSpec& task);

}  // namespace rooflab

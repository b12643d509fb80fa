#pragma once

#include <filesystem>
#include <optional>

#include "grader/batch/course.h"
#include "grader/batch/intake/groups.h"
#include "grader/batch/intake/roster.h"
#include "grader/batch/intake/submission.h"
#include "grader/batch/listener.h"
#include "grader/batch/store/store.h"

namespace rooflab {

struct TakeOptions {
  std::filesystem::path submissions;
  std::filesystem::path unpacker;  ///< build/bin/rooflab-unpack
  bool sandbox = true;
  unsigned jobs = 1;  ///< submissions looked into at a time
  Groups groups = {};
  std::optional<std::size_t> most_submissions = {};  ///< see LatePolicy
};

/// Looks into every submission of the folder, finds out whose it is and which of a student's
/// counts, and keeps all that in the store: all of it or, when something fails, nothing.
/// @param roster nothing when the class has none: then every submission names its student
/// @throws FileError when the folder cannot be read
void take_class(Store& store, const Course& course, const std::optional<Roster>& roster,
                const TakeOptions& options, BatchListener& listener);

}  // namespace rooflab

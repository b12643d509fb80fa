#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "grader/batch/batch_folder.h"
#include "grader/batch/store/store.h"

namespace rooflab {

/// What went with a student, and what did not.
struct Forgotten {
  ForgottenRows rows;
  std::size_t files = 0;          ///< of the batch's folder
  std::size_t builds = 0;         ///< in the cache
  std::vector<std::string> left;  ///< what it cannot reach: a line each
};

/// Removes a student from a batch: files first, then, in one transaction, everything in the
/// database. Whenever it is killed, either the student is still there and the same command goes on,
/// or nothing but outputs of the whole class names the student: they are to be written anew,
/// whatever it throws.
/// @param who a key, login, e-mail address, number, name, or a submission's name
/// @param cache see Installation
/// @throws BatchError when nobody, or more than one student, goes by that
Forgotten forget(Store& store, const BatchFolder& folder, const std::string& who,
                 const std::filesystem::path& cache);

}  // namespace rooflab

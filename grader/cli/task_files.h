#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "grader/spec/part.h"

namespace rooflab {

/// What a submission's files of one part hold at a moment: which of them have changed since, and
/// which tasks are another work by it.
class TaskFiles {
 public:
  /// @param folder the part's folder of a submission, which may be anything
  TaskFiles(const PartSpec& part, const std::filesystem::path& folder);

  /// A number for all that a task is made of: its file, those it uses, and of the part's headers
  /// those that any of them includes, also by way of another header.
  std::uint64_t hash(const TaskSpec& task) const;

  /// The tasks that are made of other texts than then, in the order of the part.
  std::vector<std::string> tasks_changed_since(const TaskFiles& then) const;

 private:
  std::set<std::string> files_of(const TaskSpec& task) const;

  const PartSpec* part_;
  std::map<std::string, std::string> texts_;  ///< by name; of a file that is no text its reason
};

}  // namespace rooflab

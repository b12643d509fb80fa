#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "grader/spec/part.h"
#include "grader/spec/toml_reader.h"

namespace rooflab::verify {

/// What a right submission and a planted mistake have in common: a folder of a part, whose TOML
/// file says what task it is for.
struct KeptSubmission {
  std::string name;  ///< of its folder
  std::filesystem::path folder;
  std::string task;
  std::string story;  ///< what this student did
};

/// How to read what else stands in such a file, with the task that it names.
using ReadRest = std::function<void(const KeptSubmission& kept, TableReader& reader,
                                    const toml::table& table, const TaskSpec& task)>;

/// Reads `file` of each folder in labs/<part>/`folder`/, by name; nothing without such a folder.
/// @param what it is, for messages: "the mistake"
/// @throws SpecError naming file, line and remedy, also for keys that `read_rest` left unread
void load_kept(const PartSpec& part, const std::string& folder, const std::string& file,
               const std::string& what, const ReadRest& read_rest);

/// The part's headers, the files that the task uses, and its own.
std::vector<std::string> files_of(const PartSpec& part, const TaskSpec& task);

/// Writes all files of the task to a submission.
/// @param source_of the text of one of them
void write_files(const PartSpec& part, const std::string& task,
                 const std::filesystem::path& submission,
                 const std::function<std::string(const std::string& name)>& source_of);

}  // namespace rooflab::verify

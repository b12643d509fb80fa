#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/batch/intake/roster.h"

/// What Gradescope writes beside submissions. Names and addresses in it are a student's own words.
namespace rooflab {

struct GradescopeRecord {
  StudentHints hints;                  ///< of the first who handed it in
  std::vector<StudentHints> partners;  ///< the others of the group
  std::optional<std::int64_t> created_at;
};

bool is_gradescope_metadata(const std::string& name);
/// Whether the folder is an export: has a submission_metadata.yml.
bool has_gradescope_metadata(const std::filesystem::path& folder);

/// The part of an export's submission_metadata.yml about one submission ("submission_456").
/// @param text of the whole file, which for a class is too long to be parsed for each of them
/// @return nothing when the file says nothing about it, or is none
std::optional<GradescopeRecord> read_export_metadata(std::string_view text,
                                                     const std::string& submission);

/// The submission_metadata.json that an autograder of Gradescope gets.
std::optional<GradescopeRecord> read_autograder_metadata(std::string_view text);

/// "2023-09-01 03:25:41.514562000 Z", "2018-07-01T14:22:32.365935-07:00"; a time without a zone is
/// none. @return seconds since 1970
std::optional<std::int64_t> parse_time(std::string_view text);

}  // namespace rooflab

#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "grader/spec/part.h"

/// What a student hands in: grader/hand_in/README.md.
namespace rooflab {

/// The archive cannot be written: why, and what to do.
class HandInError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file that is handed in, as it was when it was read.
struct HandInFile {
  std::string path;  ///< in the archive: "part1-metrics/gemv.cu"
  std::string text;
  std::filesystem::file_time_type modified;
  bool is_as_handed_out = false;  ///< false too where the course's own copy is not there to compare
  std::string about = {};         ///< "8 of 11 questions answered"; may be empty
};

/// What of a part is handed in.
struct HandIn {
  std::vector<HandInFile> files;
  std::vector<std::string> refused;    ///< why it cannot be: a file, its fault, what to do
  std::vector<std::string> notes;      ///< what may cost points, a line each
  std::vector<std::string> untouched;  ///< tasks of which every file is as it was handed out
  std::vector<std::string> left_out;   ///< what else lies in the folder; names are of any bytes
  /// Whether anything differs from what was handed out, as far as that is known.
  bool is_begun = false;
};

/// Reads the part's files below `submission`, a folder with the layout of starter/.
/// @param originals the same files as the course handed them out; nothing where they are not kept
/// @param with_journal whether the student shares the journal of the part
HandIn collect_hand_in(const PartSpec& part, const std::filesystem::path& submission,
                       const std::optional<std::filesystem::path>& originals, bool with_journal);

/// student.toml at the top of a submission, which says whose it is; nothing where there is none.
/// @throws HandInError when it is no plain text file
std::optional<HandInFile> student_file_of(const std::filesystem::path& submission);

/// Writes a .tar.gz of these files: all of it, or nothing. @return its size in bytes
/// @throws HandInError
std::uintmax_t pack_hand_in(const std::vector<HandInFile>& files,
                            const std::filesystem::path& archive);

}  // namespace rooflab

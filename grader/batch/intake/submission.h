#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grader/batch/intake/roster.h"
#include "grader/batch/platform.h"

namespace rooflab {

/// An entry of the folder of submissions, before anybody has looked into it.
struct SubmissionEntry {
  std::vector<std::filesystem::path>
      paths;       ///< one, or several files of one student; names may be any bytes
  std::string id;  ///< of letters, digits, dots, underlines and hyphens; unique; the same
                   ///< for the same name on every run
};

/// A submission as it was handed in, its files in memory: only those that a part asks for are
/// taken.
struct Submission {
  SubmissionEntry entry;
  StudentHints hints;
  std::vector<StudentHints> partners;  ///< who handed it in with that one, as the platform says
  std::string called;                  ///< its name in the folder, as valid UTF-8 on one line
  Platform platform = Platform::none;
  /// By what the platform knows again what it delivered: Canvas's user and attachment
  /// ("12345_67890"), Moodle's participant, Gradescope's submission, the folder of a git
  /// repository.
  std::string return_name = {};
  std::optional<std::int64_t> received_at;  ///< seconds since 1970
  bool owner_chose_time = false;  ///< received_at stands in what was handed in, and nowhere else
  bool marked_late = false;       ///< the name says so (Canvas), without a time
  /// Whose it is stands in a file of its own (student.toml) alone: a claim. Where it meets another
  /// submission of that student, somebody should look.
  bool names_itself = false;
  /// Path relative to a submission ("part1-metrics/gemv.cu") -> contents.
  std::map<std::string, std::string> files;
  std::vector<std::string> notes;  ///< what was done to make sense of it, a sentence each
  /// Those of the notes that somebody should look at, since points may be missing: what looks
  /// wanted and was not taken, such as one of two files that could both be it.
  std::vector<std::string> doubts;
  /// Why nothing could be taken from it, and what to do; empty when all is well. A submission with
  /// a problem has no files, and no doubts beside it.
  std::string problem;
};

struct IntakeOptions {
  /// Files that the parts ask for: "part1-metrics/gemv.cu".
  std::vector<std::string> wanted;
  std::filesystem::path unpacker;  ///< build/bin/rooflab-unpack
  bool sandbox = true;
};

/// The entries of a folder of submissions, by their names' bytes: folders, archives and single
/// files; what is none of these, and files that systems leave lying about (.DS_Store, __MACOSX), is
/// left out. Single files that one student's name stands before (Canvas and Moodle deliver them
/// side by side) are one entry.
/// @throws FileError when the folder cannot be read
std::vector<SubmissionEntry> list_submissions(const std::filesystem::path& folder);

/// Looks into one entry. Archives are unpacked by a program of ours in the sandbox, within limits.
/// Never throws for anything that the submission did: that is its `problem`.
/// @throws SandboxError, FileError when the grader itself cannot go on
Submission take_in(const SubmissionEntry& entry, const IntakeOptions& options);

}  // namespace rooflab

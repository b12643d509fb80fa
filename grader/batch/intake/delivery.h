#pragma once

#include <string>

#include "grader/batch/intake/roster.h"
#include "grader/batch/platform.h"

/// What the name of an entry says: who delivered it, and for whom.
namespace rooflab {

struct Delivery {
  Platform platform = Platform::none;
  StudentHints hints;
  bool marked_late = false;
  std::string owner;        ///< what all entries of one student have in common; empty for none
  std::string file;         ///< the name that the student gave a file; empty for a folder
  std::string return_name;  ///< see Submission
};

/// Reads names as Canvas, Moodle and Gradescope write them:
///
///     lovelaceada_LATE_12345_67890_archive-1.zip
///     Ada Lovelace_12345_assignsubmission_file_gemv.cu   (or a folder, without the last part)
///     submission_456                                     (a folder)
///
/// Everything else is of no platform. @param name of any bytes
Delivery delivery_of(const std::string& name, bool is_folder);

/// Whether a file is to be unpacked, going by its name; `readable` is false for archives that are
/// not read, such as .rar, so that this can be said instead of "there is no such file in it".
struct ArchiveName {
  bool is_archive = false;
  bool readable = false;
};
ArchiveName archive_name(const std::string& file);

/// The name without the extension of an archive or file: "ada.tar.gz" is "ada".
std::string without_extension(const std::string& file);

/// What nobody means to hand in: hidden files, __MACOSX, Thumbs.db, desktop.ini.
bool is_clutter(const std::string& name);

}  // namespace rooflab

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "grader/spec/part.h"

namespace rooflab {

/// What of a part's folder a course takes, the required files (submitted_files()) first: also how
/// many hints were shown, of a work log the runs that it kept, and the student's journal.
std::vector<std::string> files_to_hand_in(const PartSpec& part);

/// Whether the grader wrote the file beside a student's own, as a note of what the student did: it
/// is nobody else's, and no part of what is handed out.
bool is_note_of_student(const std::filesystem::path& file);

/// Where a student finds the course's own copy of a file of the part, "copy it from …": a kit has
/// it in originals/, a checkout in starter/.
/// @param file in the part's folder; empty for all of its files
std::string where_handed_out(const PartSpec& part, const std::string& file = {});

}  // namespace rooflab

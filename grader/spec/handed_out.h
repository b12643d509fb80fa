#pragma once

#include <string>
#include <vector>

#include "grader/spec/part.h"

namespace rooflab {

/// What of a part's folder a course takes, the required files (submitted_files()) first: also how
/// many hints were shown, and of a work log the runs that it kept.
std::vector<std::string> files_to_hand_in(const PartSpec& part);

/// Where a student finds the course's own copy of a file of the part, "copy it from …": a kit has
/// it in originals/, a checkout in starter/.
/// @param file in the part's folder; empty for all of its files
std::string where_handed_out(const PartSpec& part, const std::string& file = {});

}  // namespace rooflab

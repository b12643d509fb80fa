#pragma once

#include <string>

#include "grader/spec/part.h"

namespace rooflab {

/// Where a student finds the course's own copy of a file of the part, "copy it from …": a kit has
/// it in originals/, a checkout in starter/.
/// @param file in the part's folder; empty for all of its files
std::string where_handed_out(const PartSpec& part, const std::string& file = {});

}  // namespace rooflab

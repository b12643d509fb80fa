#pragma once

#include <string>

#include "simgpu/line_record.h"

namespace simgpu {

/// What makes a line slow, in a few words: "32 sectors for each request, where 4 would do". What it
/// is most of first; empty where nothing stands out.
std::string words_of(const LineRecord& line);

}  // namespace simgpu

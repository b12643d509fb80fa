#pragma once

#include <string>

#include "grader/spec/line_cost.h"

namespace rooflab {

/// The source of a timed call with what each line cost: heat, what makes it slow, lines that were
/// inlined under the line that called them, its PTX and pictures of its accesses when it is opened.
/// Why there is none, where a device tells no lines; empty where nothing was asked.
std::string source_page_html(const SourceCosts& costs, int heading_level);

/// The rules that it needs.
extern const char* const kSourcePageStyle;

}  // namespace rooflab

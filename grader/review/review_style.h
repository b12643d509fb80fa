#pragma once

#include <string>

namespace rooflab {

/// The style sheet of all pages of a review: that of the reports, and what only these need.
std::string review_style();

}  // namespace rooflab

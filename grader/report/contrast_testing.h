#pragma once

#include <string>
#include <vector>

namespace rooflab {

/// What of a style sheet is harder to read than WCAG 2.2 allows at level AA (1.4.3: a contrast of
/// 4.5), in light and in dark: each colour that texts have, on each ground that anything has.
/// Colours stand in `:root`; one that stands elsewhere is a fault as well, since nobody would
/// compare it. @return a line for each fault
/// @param css the whole sheet of a page
std::vector<std::string> contrast_faults(const std::string& css);

}  // namespace rooflab

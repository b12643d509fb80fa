#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rooflab {

/// The candidates that take the fewest changes of a letter, and few for the name's length; in their
/// order.
std::vector<std::string> closest_names(std::string_view name,
                                       const std::vector<std::string>& candidates);

/// The candidate that somebody who wrote `name` most likely meant: the one that takes the fewest
/// changes of a letter, and few for its length. Empty when none is that close, or two are equally.
std::string similar_name(std::string_view name, const std::vector<std::string>& candidates);

/// "; did you mean gemv?", or nothing where no candidate is close.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace rooflab

#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace rooflab {

/// What the codes mean, "RL0301" -> "shared memory is overwritten …", from the first lines of their
/// pages ("# RL0301: shared …"). Pages of another form are left out.
/// @param pages handouts/errors; without it there are no titles
std::map<std::string, std::string> read_code_titles(const std::filesystem::path& pages);

}  // namespace rooflab

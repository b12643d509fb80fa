#pragma once

#include <toml++/toml.h>

#include <filesystem>
#include <vector>

#include "grader/spec/part.h"

namespace rooflab {

/// Reads what a question draws, `draws = { n = […], m = { page, from, to, step }, k = "question"
/// }`, into it, and holds its prompt against that.
/// @param table of `draws`
/// @param earlier questions of the same task, whose numbers it may share
/// @throws SpecError naming file, line and remedy
void read_draws(const toml::table& table, const std::filesystem::path& file,
                const std::vector<QuestionSpec>& earlier, QuestionSpec& question);

}  // namespace rooflab

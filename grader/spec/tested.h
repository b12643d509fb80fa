#pragma once

#include <filesystem>

#include "grader/spec/part.h"
#include "grader/spec/toml_reader.h"

/// Tasks of kind `tests`: what a student's case may be, and by what it earns points.
namespace rooflab {

/// The group of a `tests` task whose implementations are right. All others have mistakes.
inline constexpr const char* kRightGroup = "right";

/// Reads [task.tested]. @throws SpecError
TestedSpec read_tested(const toml::table& table, const std::filesystem::path& file);

/// What a `tests` task must have, and must not. @throws SpecError
void check_tested(const TableReader& reader, const TaskSpec& task);

}  // namespace rooflab

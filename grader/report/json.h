#pragma once

#include <string>

#include "grader/spec/result.h"

namespace rooflab {

/// The JSON document of a grade, schema 1 (specs/grade.schema.json): valid UTF-8 whatever the
/// submission printed.
std::string to_json(const GradeResult& result);

}  // namespace rooflab

#pragma once

#include <vector>

#include "grader/author/verify/claim.h"
#include "grader/pipeline/installation.h"

namespace rooflab::verify {

/// The checkout's own programs that hold what is written: every link leads somewhere
/// (scripts/check_links), every command that is shown runs (scripts/check_commands).
std::vector<Check> document_checks(const Installation& installation);

}  // namespace rooflab::verify

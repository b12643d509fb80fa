#pragma once

#include <vector>

#include "grader/author/verify/claim.h"
#include "grader/pipeline/installation.h"

/// Proofs that other programs make: they end with 0 when it holds and with 1 when it does not.
namespace rooflab::verify {

/// The checkout's own programs that hold what is written: every link leads somewhere
/// (scripts/check_links), every command that is shown runs (scripts/check_commands).
std::vector<Check> document_checks(const Installation& installation);

/// `grader release` makes the student kit, and finds nothing in it that students must not have.
Check release_check(const Installation& installation);

}  // namespace rooflab::verify

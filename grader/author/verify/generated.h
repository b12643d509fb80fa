#pragma once

#include "grader/author/verify/claim.h"
#include "grader/pipeline/installation.h"

namespace rooflab::verify {

/// starter/ is what solutions/ strips to, file by file, and holds no other.
Check generated_check(const Installation& installation);

}  // namespace rooflab::verify

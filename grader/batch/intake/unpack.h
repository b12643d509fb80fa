#pragma once

#include <filesystem>
#include <string>

#include "grader/batch/intake/submission.h"

namespace rooflab {

/// @throws FileError when rooflab-unpack is missing
void require_unpacker(const IntakeOptions& options);

/// Runs rooflab-unpack in the sandbox: it sees the archive as an open file, and `into` as the only
/// folder that it may write to.
/// @return why the archive is refused, and what to do; empty when its files lie in `into`
/// @throws SandboxError, FileError when that is the grader's fault
std::string unpack(const std::filesystem::path& archive, const std::filesystem::path& into,
                   const IntakeOptions& options);

}  // namespace rooflab

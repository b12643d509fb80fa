#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "grader/batch/intake/submission.h"
#include "grader/posix/descriptor.h"
#include "grader/sandbox/sandbox.h"

namespace rooflab {

/// Runs rooflab-unpack in the sandbox, with `input` as its standard input.
/// @param writable the folder that it may write to; none when empty
/// @throws SandboxError, FileError when the grader itself cannot go on
SandboxOutcome run_unpacker(const Descriptor& input, const std::vector<std::string>& arguments,
                            const std::filesystem::path& writable, const IntakeOptions& options);

/// Runs rooflab-unpack in the sandbox: it sees the archive as an open file, and `into` as the only
/// folder that it may write to.
/// @return why the archive is refused, and what to do; empty when its files lie in `into`
/// @throws SandboxError, FileError when that is the grader's fault
std::string unpack(const std::filesystem::path& archive, const std::filesystem::path& into,
                   const IntakeOptions& options);

}  // namespace rooflab

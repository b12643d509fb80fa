#pragma once

#include <unistd.h>

#include <filesystem>

#include "grader/sandbox/sandbox.h"

namespace rooflab {

/// What a worker that takes the grader's place does with a job: runs FOLDER/do.sh there, in the
/// sandbox when FOLDER/sandboxed exists. @return the exit code
inline int run_stand_in_job(const std::filesystem::path& folder) {
  std::filesystem::current_path(folder);
  if (!std::filesystem::exists("sandboxed")) {
    execl("/bin/bash", "bash", "do.sh", static_cast<char*>(nullptr));
    return 127;
  }
  SandboxRequest request;
  request.argv = {"/bin/bash", (folder / "do.sh").string()};
  request.read_only = {"/bin", "/usr", "/lib", "/lib64", folder};
  return run_sandboxed(request).exit_code;
}

}  // namespace rooflab

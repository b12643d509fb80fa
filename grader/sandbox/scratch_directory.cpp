#include "grader/sandbox/scratch_directory.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "grader/posix/file_calls.h"
#include "grader/sandbox/sandbox.h"

namespace rooflab {

ScratchDirectory ScratchDirectory::make() {
  std::error_code error;
  const std::filesystem::path base = std::filesystem::temp_directory_path(error);
  std::string name = (error ? std::filesystem::path("/tmp") : base) / "rooflab-sandbox-XXXXXX";
  if (file_calls().mkdtemp(name.data()) != 0) {
    throw SandboxError("cannot create a scratch directory " + name + ": " + std::strerror(errno) +
                       "; free some disk space or set TMPDIR");
  }
  ScratchDirectory scratch;
  scratch.path_ = name;
  return scratch;
}

}  // namespace rooflab

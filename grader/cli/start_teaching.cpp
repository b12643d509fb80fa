#include "grader/cli/start_teaching.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "grader/cli/build_now.h"

namespace rooflab {

void start_teaching(const Installation& installation, char** argv) {
  const std::filesystem::path program = installation.build / "bin" / "rooflab-teach";
  if (!std::filesystem::exists(program)) {
    build_now(installation, "teaching", "commands for those who teach");
  }
  ::execv(program.c_str(), argv);
  throw InstallationError(
      fmt::format("cannot start {}: {}", program.string(), std::generic_category().message(errno)));
}

}  // namespace rooflab

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "grader/sandbox/child.h"
#include "grader/sandbox/control_groups.h"
#include "grader/sandbox/layers.h"
#include "grader/sandbox/sandbox.h"
#include "grader/sandbox/scratch_directory.h"
#include "grader/sandbox/user.h"

namespace rooflab {

/// A request made ready to run: the plan of the child, and all that has to live as long as it.
struct SandboxCommand {
  ChildPlan plan;
  std::optional<UserLease> user;
  std::optional<ControlGroups> control_groups;
  Descriptor filter;         ///< the seccomp filter in a file, for bubblewrap
  Descriptor status_reader;  ///< bubblewrap's messages in JSON; invalid without bubblewrap
  Descriptor status_writer;
  Descriptor report_reader;  ///< reads a ProgramEnd from await_program; invalid without bubblewrap
  Descriptor report_writer;
  Descriptor await_program;  ///< it as a file, for bubblewrap
  Descriptor landlock;
  ScratchDirectory scratch;  ///< for the fallback; bubblewrap has a tmpfs of its own
  std::vector<std::filesystem::path>
      watched;  ///< directories of the host whose use of disk is limited
};

/// Ours in a sandbox of bubblewrap: its own two, and await_program.
inline constexpr std::uint64_t kBubblewrapProcesses = 3;

/// @throws SandboxError when something in the request does not exist or cannot be set up.
SandboxCommand make_command(const SandboxRequest& request, const Layers& layers);

}  // namespace rooflab

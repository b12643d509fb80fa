#pragma once

#include <sys/types.h>

#include <filesystem>
#include <vector>

namespace rooflab {

/// The groups that a program with a user of its own keeps, so that it can open these device nodes:
/// many systems let a group ("video", "render") open a GPU's node and nobody else. It sees no other
/// node of those groups.
/// @throws SandboxError naming a node that no group but root's may open, and the remedy.
std::vector<gid_t> groups_for(const std::vector<std::filesystem::path>& devices);

}  // namespace rooflab

#pragma once

#include <filesystem>
#include <vector>

namespace rooflab {

/// Version of Landlock that the kernel offers, 0 when it offers none.
int landlock_version();

/// Makes a Landlock rule set: reading and executing beneath `read_only`, everything beneath
/// `writable`, reading and writing the files `devices`, nothing else in the file system; no TCP;
/// signals and abstract sockets only among the sandboxed, where the kernel can.
/// @return a descriptor for landlock_restrict_self, which the caller closes; -1 when the kernel has
/// none.
int make_landlock_ruleset(const std::vector<std::filesystem::path>& read_only,
                          const std::vector<std::filesystem::path>& writable,
                          const std::vector<std::filesystem::path>& devices);

}  // namespace rooflab

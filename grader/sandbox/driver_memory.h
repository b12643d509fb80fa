#pragma once

#include <sys/types.h>

#include <cstdint>
#include <istream>
#include <vector>

namespace rooflab {

/// The host's memory that a process has mapped of NVIDIA's driver, from its /proc/<pid>/smaps: the
/// resident part of /dev/nvidia-uvm (managed memory that lies on the host) and of /dev/nvidiactl
/// (what the driver allocated for it). The kernel counts these pages as parts of files. Mappings of
/// /dev/nvidia0 and its like are the GPU's own memory, and no host's.
std::uint64_t driver_memory_in(std::istream& smaps);

/// Of all these together. It walks their page tables, which takes some milliseconds for each
/// gigabyte: TreeUsage::file_bytes is an upper bound that costs nothing.
std::uint64_t driver_memory_of(const std::vector<pid_t>& processes);

}  // namespace rooflab

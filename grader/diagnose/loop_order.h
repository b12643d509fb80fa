#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace rooflab {

/// Of a store that a later line reads, with a barrier between the two that every pass meets: where
/// the two race all the same, the store is the next iteration's, and a barrier is missing behind
/// the read.
/// @param barrier the function that orders the two: "__syncthreads", "__syncwarp"
/// @return the line of the innermost loop around store, barrier and read; nullopt where the source
/// has no such order, or has a barrier behind the read already
std::optional<std::uint32_t> loop_without_last_barrier(const std::string& source,
                                                       std::uint32_t store_line,
                                                       std::uint32_t read_line,
                                                       const std::string& barrier);

}  // namespace rooflab

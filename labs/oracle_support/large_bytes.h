#pragma once

#include <cstddef>
#include <vector>

namespace rooflab {

/// `count` zero bytes. Of many the memory comes in huge pages, where the kernel has them: page
/// faults take longer than drawing an input of hundreds of megabytes.
std::vector<std::byte> large_bytes(std::size_t count);

}  // namespace rooflab

#pragma once

#include <cstddef>

/// What the guest knows of its own memory.
namespace simgpu::runtime {

/// Whether the process may read all of these bytes. Asks the system about each page.
bool is_readable(const void* pointer, std::size_t bytes);

}  // namespace simgpu::runtime

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "simgpu/device/protocol.h"

/// Memory that the program and the device see at one address: managed memory and pinned host
/// memory. The device process makes it; here it is mapped.
namespace simgpu::runtime {

struct Reply;

/// Memory for cudaMallocManaged or cudaMallocHost. @returns a cudaError_t
int allocate_shared(protocol::SharedKind kind, std::size_t bytes, void** pointer);

/// Maps the memory of a __managed__ variable and says where it lies. @returns a cudaError_t
int map_variable(std::uint64_t module, const std::string& name, void** pointer);

/// Takes the memory out of this process, where its addresses fault from now on.
void unmap_shared(std::uint64_t address, std::uint64_t mapped_bytes);

}  // namespace simgpu::runtime

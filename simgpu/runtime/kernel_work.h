#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <vector>

namespace simgpu::runtime {

/// A kernel's launch with its arguments copied.
struct KernelWork {
  const void* function = nullptr;  ///< a host function or a cudaKernel_t
  dim3 grid, block;
  unsigned dynamic_shared_bytes = 0;
  bool cooperative = false;
  bool by_syntax = false;  ///< compiled from `<<<>>>`
  std::vector<std::byte> parameters;
};

/// @returns a cudaError_t
int describe_kernel(const void* function, dim3 grid, dim3 block, void** arguments,
                    size_t dynamic_shared_bytes, KernelWork* work);
/// Pointers to each argument in `work.parameters`, as a launch takes them.
std::vector<void*> argument_pointers(KernelWork& work);

/// The device's request: protocol::LaunchMessage and the parameters. @returns a cudaError_t
int launch_request(const KernelWork& work, cudaStream_t stream, std::vector<std::byte>* request);
int launch(const KernelWork& work, cudaStream_t stream);
/// What would refuse the launch, without launching: a wrong configuration is told when a node is
/// made.
int check(const KernelWork& work);

}  // namespace simgpu::runtime

#pragma once

#include <cuda_runtime_api.h>

#include "simgpu/runtime/graph.h"

/// What the runtime's structures of node parameters mean. Functions return a cudaError_t;
/// `function` is the public function's name, for what it refuses.
namespace simgpu::runtime {

int work_of(const char* function, const cudaKernelNodeParams* parameters, Work* work);
int work_of(const char* function, const cudaMemcpy3DParms* parameters, Work* work);
int work_of(const cudaMemsetParams* parameters, Work* work);
int work_of(const cudaHostNodeParams* parameters, Work* work);
int work_of_copy(void* destination, const void* source, size_t bytes, cudaMemcpyKind kind,
                 Work* work);
/// A node's own copy of a graph. Fails for what is no graph.
int work_of_child(cudaGraph_t graph, Work* work);
/// Allocates where the node is to: the address goes into the parameters.
int work_of(const char* function, cudaGraphNodeParams* parameters, Work* work);

cudaKernelNodeParams parameters_of(Node& node, KernelWork& work);
cudaMemcpy3DParms parameters_of(const Copy& copy);
cudaMemsetParams parameters_of(const Fill& fill);

}  // namespace simgpu::runtime

#include "graph.h"

#include <cuda_fp16.h>

#include <memory>
#include <type_traits>

#include "toolkit/check.h"

using rooflab::eager::DecodeStep;

namespace {

struct DestroyGraph {
  void operator()(cudaGraph_t graph) const { cudaGraphDestroy(graph); }
};
struct DestroyExecutable {
  void operator()(cudaGraphExec_t executable) const { cudaGraphExecDestroy(executable); }
};
using Graph = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, DestroyGraph>;
using Executable = std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, DestroyExecutable>;

// The token of the step that the counter is at.
template <typename T>
__global__ void fill(const T* inputs, const int* positions, const int* counter, T* input,
                     int* position, int elements) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) *position = positions[*counter];
  if (i >= elements) return;
  input[i] = inputs[static_cast<long>(*counter) * elements + i];
}

template <typename T>
__global__ void empty(const T* output, const int* counter, T* outputs, int elements) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  outputs[static_cast<long>(*counter) * elements + i] = output[i];
}

__global__ void count(int* counter) { *counter += 1; }

}  // namespace

template <typename T>
void decode_steps(DecodeStep<T>& step, const T* inputs, const int* positions, T* outputs, int steps,
                  cudaStream_t stream) {
  const int elements = static_cast<int>(step.elements());
  const int blocks = (elements + 255) / 256;
  int* counter = nullptr;
  CUDA_CHECK(cudaMallocAsync(&counter, sizeof(int), stream));
  CUDA_CHECK(cudaMemsetAsync(counter, 0, sizeof(int), stream));

  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  fill<<<blocks, 256, 0, stream>>>(inputs, positions, counter, step.input(), step.position(),
                                   elements);
  step.launch(stream);
  empty<<<blocks, 256, 0, stream>>>(step.output(), counter, outputs, elements);
  count<<<1, 1, 0, stream>>>(counter);
  cudaGraph_t captured = nullptr;
  CUDA_CHECK(cudaStreamEndCapture(stream, &captured));
  const Graph graph(captured);
  cudaGraphExec_t made = nullptr;
  CUDA_CHECK(cudaGraphInstantiateWithFlags(&made, graph.get(), 0));
  const Executable executable(made);

  for (int i = 0; i < steps; ++i) CUDA_CHECK(cudaGraphLaunch(executable.get(), stream));
  CUDA_CHECK(cudaFreeAsync(counter, stream));
}

template void decode_steps(DecodeStep<float>&, const float*, const int*, float*, int, cudaStream_t);
template void decode_steps(DecodeStep<__half>&, const __half*, const int*, __half*, int,
                           cudaStream_t);

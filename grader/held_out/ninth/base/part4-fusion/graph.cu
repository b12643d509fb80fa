#include "graph.h"

#include <cuda_fp16.h>

#include "toolkit/check.h"

using rooflab::eager::DecodeStep;

namespace {

// What one step launches, captured once and destroyed with the object.
template <typename T>
struct Recorded {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;

  Recorded(DecodeStep<T>& step, cudaStream_t stream) {
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    step.launch(stream);
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));
  }
  ~Recorded() {
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
  }
};

}  // namespace

template <typename T>
void decode_steps(DecodeStep<T>& step, const T* inputs, const int* positions, T* outputs, int steps,
                  cudaStream_t stream) {
  const Recorded<T> recorded(step, stream);
  const std::int64_t size = step.elements();
  const size_t bytes = size * sizeof(T);
  for (int s = 0; s < steps; ++s) {
    CUDA_CHECK(cudaMemcpyAsync(step.input(), inputs + s * size, bytes, cudaMemcpyDeviceToDevice,
                               stream));
    CUDA_CHECK(cudaMemcpyAsync(step.position(), positions + s, sizeof(int),
                               cudaMemcpyDeviceToDevice, stream));
    CUDA_CHECK(cudaGraphLaunch(recorded.exec, stream));
    CUDA_CHECK(cudaMemcpyAsync(outputs + s * size, step.output(), bytes, cudaMemcpyDeviceToDevice,
                               stream));
  }
}

template void decode_steps(DecodeStep<float>&, const float*, const int*, float*, int, cudaStream_t);
template void decode_steps(DecodeStep<__half>&, const __half*, const int*, __half*, int,
                           cudaStream_t);

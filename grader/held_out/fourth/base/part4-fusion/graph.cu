#include "graph.h"

#include <cuda_fp16.h>

#include "toolkit/check.h"

using rooflab::eager::DecodeStep;

namespace {

// Copies within the device, in the order of the stream.
template <typename T>
void move(T* to, const T* from, std::int64_t count, cudaStream_t stream) {
  CUDA_CHECK(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDeviceToDevice, stream));
}

}  // namespace

template <typename T>
void decode_steps(DecodeStep<T>& step, const T* inputs, const int* positions, T* outputs, int steps,
                  cudaStream_t stream) {
  cudaGraph_t recorded = nullptr;
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  step.launch(stream);
  CUDA_CHECK(cudaStreamEndCapture(stream, &recorded));
  cudaGraphExec_t ready = nullptr;
  CUDA_CHECK(cudaGraphInstantiate(&ready, recorded, 0));

  const std::int64_t size = step.elements();
  const T* next_input = inputs;
  T* next_output = outputs;
  for (int i = 0; i < steps; ++i) {
    move(step.input(), next_input, size, stream);
    move(step.position(), positions + i, 1, stream);
    CUDA_CHECK(cudaGraphLaunch(ready, stream));
    move(next_output, step.output(), size, stream);
    next_input += size;
    next_output += size;
  }
  CUDA_CHECK(cudaGraphExecDestroy(ready));
  CUDA_CHECK(cudaGraphDestroy(recorded));
}

template void decode_steps(DecodeStep<float>&, const float*, const int*, float*, int, cudaStream_t);
template void decode_steps(DecodeStep<__half>&, const __half*, const int*, __half*, int,
                           cudaStream_t);

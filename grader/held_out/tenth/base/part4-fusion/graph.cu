#include "graph.h"

#include <cuda_fp16.h>

#include "toolkit/check.h"

using rooflab::eager::DecodeStep;

template <typename T>
void decode_steps(DecodeStep<T>& step, const T* inputs, const int* positions, T* outputs, int steps,
                  cudaStream_t stream) {
  cudaGraph_t recorded = nullptr;
  cudaGraphExec_t ready = nullptr;
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  step.launch(stream);
  CUDA_CHECK(cudaStreamEndCapture(stream, &recorded));
  CUDA_CHECK(cudaGraphInstantiate(&ready, recorded, 0));

  const size_t row = step.elements();
  const size_t row_bytes = row * sizeof(T);
  for (int i = 0; i < steps; ++i) {
    CUDA_CHECK(cudaMemcpyAsync(step.input(), inputs + i * row, row_bytes, cudaMemcpyDeviceToDevice,
                               stream));
    CUDA_CHECK(cudaMemcpyAsync(step.position(), positions + i, sizeof(int),
                               cudaMemcpyDeviceToDevice, stream));
    CUDA_CHECK(cudaGraphLaunch(ready, stream));
    CUDA_CHECK(cudaMemcpyAsync(outputs + i * row, step.output(), row_bytes,
                               cudaMemcpyDeviceToDevice, stream));
  }

  CUDA_CHECK(cudaGraphExecDestroy(ready));
  CUDA_CHECK(cudaGraphDestroy(recorded));
}

template void decode_steps(DecodeStep<float>&, const float*, const int*, float*, int, cudaStream_t);
template void decode_steps(DecodeStep<__half>&, const __half*, const int*, __half*, int,
                           cudaStream_t);

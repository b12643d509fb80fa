#include "graph.h"

#include <cuda_fp16.h>

#include "toolkit/check.h"

using rooflab::eager::DecodeStep;

#define D2D cudaMemcpyDeviceToDevice

template <typename T>
void decode_steps(DecodeStep<T>& step, const T* inputs, const int* positions, T* outputs, int steps,
                  cudaStream_t stream) {
  const size_t n = step.elements();
  const size_t bytes = n * sizeof(T);

  // record once
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  step.launch(stream);
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));

  // replay
  for (int i = 0; i < steps; i++) {
    CUDA_CHECK(cudaMemcpyAsync(step.input(), inputs + i * n, bytes, D2D, stream));
    CUDA_CHECK(cudaMemcpyAsync(step.position(), positions + i, sizeof(int), D2D, stream));
    CUDA_CHECK(cudaGraphLaunch(exec, stream));
    CUDA_CHECK(cudaMemcpyAsync(outputs + i * n, step.output(), bytes, D2D, stream));
  }

  CUDA_CHECK(cudaGraphExecDestroy(exec));
  CUDA_CHECK(cudaGraphDestroy(graph));
}

template void decode_steps(DecodeStep<float>&, const float*, const int*, float*, int, cudaStream_t);
template void decode_steps(DecodeStep<__half>&, const __half*, const int*, __half*, int,
                           cudaStream_t);

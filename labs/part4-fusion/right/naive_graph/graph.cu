#include "graph.h"

#include <cuda_fp16.h>

#include "toolkit/check.h"

template <typename T>
__global__ void copy_all(T* to, const T* from, int count) {
  for (int i = 0; i < count; ++i) to[i] = from[i];
}

template <typename T>
void decode_steps(rooflab::eager::DecodeStep<T>& step, const T* inputs, const int* positions,
                  T* outputs, int steps, cudaStream_t stream) {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  step.launch(stream);
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  CUDA_CHECK(cudaGraphInstantiate(&executable, graph, 0));
  const int count = static_cast<int>(step.elements());
  for (int i = 0; i < steps; ++i) {
    copy_all<<<1, 1, 0, stream>>>(step.input(), inputs + static_cast<long>(i) * count, count);
    copy_all<<<1, 1, 0, stream>>>(step.position(), positions + i, 1);
    CUDA_CHECK(cudaGraphLaunch(executable, stream));
    copy_all<<<1, 1, 0, stream>>>(outputs + static_cast<long>(i) * count, step.output(), count);
    CUDA_CHECK(cudaGetLastError());
  }
  CUDA_CHECK(cudaGraphExecDestroy(executable));
  CUDA_CHECK(cudaGraphDestroy(graph));
}

template void decode_steps(rooflab::eager::DecodeStep<float>&, const float*, const int*, float*,
                           int, cudaStream_t);
template void decode_steps(rooflab::eager::DecodeStep<__half>&, const __half*, const int*, __half*,
                           int, cudaStream_t);

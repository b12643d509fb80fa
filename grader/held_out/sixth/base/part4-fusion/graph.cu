#include "graph.h"

#include <cuda_fp16.h>

#include "toolkit/check.h"

using rooflab::eager::DecodeStep;

/* A step as a graph that can be replayed. */
struct replay {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
};

template <typename T>
static struct replay record_step(DecodeStep<T>& step, cudaStream_t stream) {
  struct replay r;
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  step.launch(stream);
  CUDA_CHECK(cudaStreamEndCapture(stream, &r.graph));
  CUDA_CHECK(cudaGraphInstantiate(&r.exec, r.graph, 0));
  return r;
}

static void discard(struct replay r) {
  CUDA_CHECK(cudaGraphExecDestroy(r.exec));
  CUDA_CHECK(cudaGraphDestroy(r.graph));
}

template <typename T>
void decode_steps(DecodeStep<T>& step, const T* inputs, const int* positions, T* outputs, int steps,
                  cudaStream_t stream) {
  size_t elements = (size_t)step.elements();
  size_t bytes = elements * sizeof(T);
  struct replay r = record_step(step, stream);
  int i;

  for (i = 0; i < steps; i++) {
    const T* in = inputs + i * elements;
    T* out = outputs + i * elements;
    CUDA_CHECK(cudaMemcpyAsync(step.input(), in, bytes, cudaMemcpyDeviceToDevice, stream));
    CUDA_CHECK(cudaMemcpyAsync(step.position(), positions + i, sizeof(int),
                               cudaMemcpyDeviceToDevice, stream));
    CUDA_CHECK(cudaGraphLaunch(r.exec, stream));
    CUDA_CHECK(cudaMemcpyAsync(out, step.output(), bytes, cudaMemcpyDeviceToDevice, stream));
  }
  discard(r);
}

template void decode_steps(DecodeStep<float>&, const float*, const int*, float*, int, cudaStream_t);
template void decode_steps(DecodeStep<__half>&, const __half*, const int*, __half*, int,
                           cudaStream_t);

#include "graph.h"

#include <cuda_fp16.h>

#include "toolkit/check.h"

using rooflab::eager::DecodeStep;

namespace {

// The kernels of one step, recorded once.
class Recording {
 public:
  template <typename T>
  Recording(DecodeStep<T>& step, cudaStream_t stream) {
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    step.launch(stream);
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph_));
    CUDA_CHECK(cudaGraphInstantiate(&ready_, graph_, 0));
  }
  ~Recording() {
    cudaGraphExecDestroy(ready_);
    cudaGraphDestroy(graph_);
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  void play(cudaStream_t stream) const { CUDA_CHECK(cudaGraphLaunch(ready_, stream)); }

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t ready_ = nullptr;
};

}  // namespace

template <typename T>
void decode_steps(DecodeStep<T>& step, const T* inputs, const int* positions, T* outputs, int steps,
                  cudaStream_t stream) {
  const Recording recording(step, stream);
  const std::int64_t elements = step.elements();
  const size_t bytes = elements * sizeof(T);
  const auto move = [stream](void* to, const void* from, size_t size) {
    CUDA_CHECK(cudaMemcpyAsync(to, from, size, cudaMemcpyDeviceToDevice, stream));
  };
  for (int i = 0; i < steps; ++i) {
    move(step.input(), inputs + i * elements, bytes);
    move(step.position(), positions + i, sizeof(int));
    recording.play(stream);
    move(outputs + i * elements, step.output(), bytes);
  }
}

template void decode_steps(DecodeStep<float>&, const float*, const int*, float*, int, cudaStream_t);
template void decode_steps(DecodeStep<__half>&, const __half*, const int*, __half*, int,
                           cudaStream_t);

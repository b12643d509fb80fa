#include "graph.h"

#include <cuda_fp16.h>

#include "toolkit/check.h"

using rooflab::eager::DecodeStep;

namespace {

// A step that has been recorded; goes with the object.
class Recording {
 public:
  template <typename T>
  Recording(DecodeStep<T>& step, cudaStream_t stream) : stream_(stream) {
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

  void play() { CUDA_CHECK(cudaGraphLaunch(ready_, stream_)); }

 private:
  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t ready_ = nullptr;
};

// Moves `count` elements within the device's memory, behind what the stream already has to do.
template <typename E>
void move(E* to, const E* from, std::int64_t count, cudaStream_t stream) {
  CUDA_CHECK(
      cudaMemcpyAsync(to, from, count * sizeof(E), cudaMemcpyDeviceToDevice, stream));
}

}  // namespace

template <typename T>
void decode_steps(DecodeStep<T>& step, const T* inputs, const int* positions, T* outputs, int steps,
                  cudaStream_t stream) {
  Recording recording(step, stream);
  const std::int64_t each = step.elements();
  for (std::int64_t i = 0; i < steps; ++i) {
    move(step.input(), inputs + i * each, each, stream);
    move(step.position(), positions + i, 1, stream);
    recording.play();
    move(outputs + i * each, step.output(), each, stream);
  }
}

template void decode_steps(DecodeStep<float>&, const float*, const int*, float*, int, cudaStream_t);
template void decode_steps(DecodeStep<__half>&, const __half*, const int*, __half*, int,
                           cudaStream_t);

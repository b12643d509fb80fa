#include "graph.h"

#include <cuda_fp16.h>

#include "toolkit/check.h"

using rooflab::eager::DecodeStep;

namespace {

class Replay {
 public:
  template <typename T>
  Replay(DecodeStep<T>& step, cudaStream_t stream) : stream_(stream) {
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    step.launch(stream);
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph_));
    CUDA_CHECK(cudaGraphInstantiate(&ready_, graph_, 0));
  }
  ~Replay() {
    cudaGraphExecDestroy(ready_);
    cudaGraphDestroy(graph_);
  }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  void operator()() const { CUDA_CHECK(cudaGraphLaunch(ready_, stream_)); }

 private:
  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t ready_ = nullptr;
};

}  // namespace

template <typename T>
void decode_steps(DecodeStep<T>& step, const T* inputs, const int* positions, T* outputs, int steps,
                  cudaStream_t stream) {
  const Replay replay(step, stream);
  const std::int64_t token = step.elements();
  const auto copy = [&](auto* to, const auto* from, std::int64_t count) {
    CUDA_CHECK(cudaMemcpyAsync(to, from, count * sizeof(*from), cudaMemcpyDeviceToDevice, stream));
  };
  for (int i = 0; i < steps; ++i) {
    copy(step.input(), inputs + i * token, token);
    copy(step.position(), positions + i, 1);
    replay();
    copy(outputs + i * token, step.output(), token);
  }
}

template void decode_steps(DecodeStep<float>&, const float*, const int*, float*, int, cudaStream_t);
template void decode_steps(DecodeStep<__half>&, const __half*, const int*, __half*, int,
                           cudaStream_t);

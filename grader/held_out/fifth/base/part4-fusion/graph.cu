#include "graph.h"

#include <cuda_fp16.h>

#include "toolkit/check.h"

using rooflab::eager::DecodeStep;

namespace {

// One step, recorded once and played as often as one likes.
class Recording {
 public:
  template <class Work>
  Recording(cudaStream_t stream, Work work) {
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    work(stream);
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph_));
    CUDA_CHECK(cudaGraphInstantiate(&playable_, graph_, 0));
  }
  ~Recording() {
    if (playable_) cudaGraphExecDestroy(playable_);
    if (graph_) cudaGraphDestroy(graph_);
  }
  Recording(const Recording&) = delete;

  void play(cudaStream_t stream) const { CUDA_CHECK(cudaGraphLaunch(playable_, stream)); }

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t playable_ = nullptr;
};

template <typename E>
void move(E* to, const E* from, std::int64_t count, cudaStream_t stream) {
  CUDA_CHECK(cudaMemcpyAsync(to, from, count * sizeof(E), cudaMemcpyDeviceToDevice, stream));
}

}  // namespace

template <typename T>
void decode_steps(DecodeStep<T>& step, const T* inputs, const int* positions, T* outputs, int steps,
                  cudaStream_t stream) {
  const Recording one(stream, [&](cudaStream_t s) { step.launch(s); });
  const std::int64_t size = step.elements();
  for (int i = 0; i < steps; ++i) {
    move(step.input(), inputs + i * size, size, stream);
    move(step.position(), positions + i, 1, stream);
    one.play(stream);
    move(outputs + i * size, step.output(), size, stream);
  }
}

template void decode_steps(DecodeStep<float>&, const float*, const int*, float*, int, cudaStream_t);
template void decode_steps(DecodeStep<__half>&, const __half*, const int*, __half*, int,
                           cudaStream_t);

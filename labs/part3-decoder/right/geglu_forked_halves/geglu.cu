#include "geglu.h"

#include <cuda_bf16.h>

#include <array>

#include "toolkit/check.h"

namespace {

template <typename T>
__global__ void gate_up(const T* gate, const T* up, T* out, long first, long last) {
  const long step = static_cast<long>(gridDim.x) * blockDim.x;
  for (long i = first + blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; i < last;
       i += step) {
    const float x = gate[i];
    const float t = tanhf(0.79788456f * (x + 0.044715f * x * x * x));
    out[i] = T(0.5f * x * (1.0f + t) * static_cast<float>(up[i]));
  }
}

// A stream that begins behind what is on another one, and that this one waits for at the end.
class Branch {
 public:
  explicit Branch(cudaStream_t trunk) : trunk_(trunk) {
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    CUDA_CHECK(cudaEventCreateWithFlags(&mark_, cudaEventDisableTiming));
    CUDA_CHECK(cudaEventRecord(mark_, trunk_));
    CUDA_CHECK(cudaStreamWaitEvent(stream_, mark_));
  }
  ~Branch() {
    cudaEventRecord(mark_, stream_);
    cudaStreamWaitEvent(trunk_, mark_);
    cudaEventDestroy(mark_);
    cudaStreamDestroy(stream_);
  }
  Branch(const Branch&) = delete;
  Branch& operator=(const Branch&) = delete;
  cudaStream_t stream() const { return stream_; }

 private:
  cudaStream_t trunk_, stream_ = nullptr;
  cudaEvent_t mark_ = nullptr;
};

template <typename T>
void launch(const T* gate, const T* up, T* out, long first, long last, cudaStream_t stream) {
  if (first >= last) return;
  const long blocks = (last - first + 255) / 256;
  gate_up<<<static_cast<unsigned>(blocks < 1024 ? blocks : 1024), 256, 0, stream>>>(gate, up, out,
                                                                                    first, last);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace

template <typename T>
void geglu(const T* gate, const T* up, T* out, std::int64_t count, cudaStream_t stream) {
  const long half = count / 2 / 64 * 64;  // whole sectors
  {
    const std::array<Branch, 2> branches{Branch(stream), Branch(stream)};
    for (int part = 0; part < 2; ++part) {
      launch(gate, up, out, part * half, (part + 1) * half, branches[part].stream());
    }
  }
  launch(gate, up, out, 2 * half, count, stream);
}

template void geglu(const float*, const float*, float*, std::int64_t, cudaStream_t);
template void geglu(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, std::int64_t,
                    cudaStream_t);

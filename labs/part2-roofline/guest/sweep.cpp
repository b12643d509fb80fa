#include "sweep.h"

#include <memory>

#include "grader/contract/guest_call.h"
#include "guest_support/gpu_at_hand.h"
#include "guest_support/scratch_folder.h"
#include "toolkit/check_cublas.h"

namespace {

/// One of the sweep's arrays.
class Array {
 public:
  Array() {
    // 0x3c3c3c3c is the float 0.0115: ordinary numbers, since zeros would draw less power and let a
    // real GPU clock higher.
    constexpr int kByteOfEach = 0x3c;
    CUDA_CHECK(cudaMalloc(&data_, kBytes));
    CUDA_CHECK(cudaMemset(data_, kByteOfEach, kBytes));
  }
  ~Array() { cudaFree(data_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  float* data() const { return data_; }

 private:
  static constexpr std::size_t kBytes = sizeof(float) * kSweepElements;
  float* data_ = nullptr;
};

}  // namespace

ROOFLAB_ENTRY(sweep) {
  cublasHandle_t raw = nullptr;
  CUBLAS_CHECK(cublasCreate(&raw));
  const std::unique_ptr<cublasContext, decltype(&cublasDestroy)> handle(raw, &cublasDestroy);

  const Array x;
  const Array y;
  const Array out;
  const rooflab::GpuAtHand gpu = rooflab::gpu_at_hand();
  const SweepDevice device{.name = gpu.name,
                           .gpu = gpu.peaks,
                           .kind = gpu.kind,
                           .cublas = handle.get(),
                           .x = x.data(),
                           .y = y.data(),
                           .out = out.data()};
  const rooflab::ScratchFolder folder;
  sweep(device, folder.path());

  call.result("flops_per_second", device.gpu.flops_per_second);
  call.result("bytes_per_second", device.gpu.bytes_per_second);
  for (const char* kind : {"json", "csv", "svg"}) {
    call.result(kind, folder.contents("roofline." + std::string(kind)));
  }
}

#pragma once

#include <cstdint>
#include <string>

namespace rooflab {

/// The few functions of the CUDA runtime that the guest itself needs, found in libcudart when it
/// runs: the loader's path decides whether that is NVIDIA's or the simulated GPU's. A guest without
/// any is fine until a task asks for a GPU.
class CudaRuntime {
 public:
  CudaRuntime();

  /// @throws std::runtime_error saying why there is none.
  void require() const;

  /// Waits for the device. @return the error that it or an earlier call left behind, or empty.
  std::string finish();
  /// The same for one stream: what was to be ordered with it and is not, nobody has waited for.
  std::string finish(void* stream);

  /// A stream that does not wait for the default stream, made by the first call and kept.
  void* own_stream();

  /// Opens memory of another process, which gave us the descriptor of the pool that it lies in, and
  /// told of its pointer what TensorPlace::exported says. @throws std::runtime_error with CUDA's
  /// error.
  void* open_shared(int pool_descriptor, const std::string& exported);

  /// Memory of this process's own, of `bytes` bytes, with what lies at `contents` unless that is
  /// null. It lasts as long as the process. @throws std::runtime_error with CUDA's error.
  void* make_own(std::size_t bytes, const void* contents);

  /// Runs the kernel that proves that the GPU can run this build's machine code: proof.h.
  /// @throws std::runtime_error with CUDA's error.
  void run_proof(const void* x, void* y);

  /// Lets the device's own pool keep what is freed. Left alone, it gives all of it back whenever
  /// the device is awaited, as the grader does between measured calls: each would pay for mapping
  /// what it takes by cudaMallocAsync anew.
  void keep_freed_memory();

  /// Time between start() and stop() on a stream, by CUDA events. They are made once, at the latest
  /// by start_clock().
  void make_clock();
  void start_clock(void* stream);
  double stop_clock_us(void* stream);

 private:
  template <typename Function>
  Function* find(const char* name) const;
  std::string name_of_error(int error) const;
  void check(int error, const char* what) const;
  std::string error_of(int error) const;
  void open_pool(int descriptor);

  void* library_ = nullptr;
  std::string why_missing_;
  void* pool_ = nullptr;   // cudaMemPool_t
  void* start_ = nullptr;  // cudaEvent_t
  void* stop_ = nullptr;
  void* stream_ = nullptr;  // cudaStream_t
};

}  // namespace rooflab

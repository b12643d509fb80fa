#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "grader/device/cuda/cuda_api.h"
#include "grader/device/device.h"
#include "grader/guest/call_protocol.h"

namespace rooflab {

/// Memory of the GPU that a guest can open once it is exported. It belongs to one run, since who
/// may open a pool may open all that lies in it; the guest has to be gone before it is.
class SharedPool {
 public:
  SharedPool(std::shared_ptr<const CudaApi> api, int device);
  SharedPool(const SharedPool&) = delete;
  SharedPool& operator=(const SharedPool&) = delete;
  ~SharedPool();
  cudaMemPool_t get() const { return pool_; }

 private:
  std::shared_ptr<const CudaApi> api_;
  cudaMemPool_t pool_;
};

/// Memory of a pool, in whole pages, so that what runs past the end of a tensor meets no other.
class PlacedBuffer {
 public:
  PlacedBuffer(std::shared_ptr<const CudaApi> api, const SharedPool& pool, std::size_t bytes);
  PlacedBuffer(PlacedBuffer&& other) noexcept;
  PlacedBuffer& operator=(PlacedBuffer&&) = delete;
  ~PlacedBuffer();
  void* address() const { return address_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<const CudaApi> api_;
  void* address_;
  std::size_t bytes_;
};

/// The tensors of one problem on the GPU, and the buffer that drives them out of its L2 cache.
class Placement {
 public:
  /// @param timed whether outputs can be taken
  Placement(const std::shared_ptr<const CudaApi>& api, int device, const Problem& problem,
            std::size_t l2_bytes, bool timed);

  /// What a guest opens all of this by: its kMemoryDescriptor.
  int descriptor() const { return descriptor_.get(); }

  /// Writes what a call may read, poisons what it has to write, and leaves the caches cold.
  /// @param contents the problem, or the same with other inputs
  /// @return how long the GPU took for the last part of it, which is always the same work, by our
  /// clock in microseconds: longer where it had to do something else first
  /// @throws DeviceError when its tensors have other sizes.
  double prepare(const Problem& contents) const;

  /// The bytes of every tensor.
  std::vector<std::vector<std::byte>> read() const;

  /// Copies what a call writes to memory that no guest can open, as fast as the GPU can: what comes
  /// after its reply does not count. Only of a placement for timed calls.
  void take_outputs() const;

  /// The bytes of every tensor, the outputs as they were taken.
  std::vector<std::vector<std::byte>> read_taken() const;

  /// Whether an element drawn at random of any output of floating-point numbers was still poison
  /// when it was taken: it tells a reply that came before the work was done. Any integer may be a
  /// result, so that outputs of integers tell nothing.
  bool has_unwritten(std::mt19937_64& random) const;

  Call call(const RunRequest& request) const;

  /// The same on memory of the guest's own, with the inputs in it and outputs that nobody has
  /// written to. What is done there is not read.
  Call call_on_own_memory(const RunRequest& request) const;

 private:
  void write(const Problem& contents) const;
  void flush_l2() const;
  std::vector<std::vector<std::byte>> read_from(
      const std::function<const PlacedBuffer&(std::size_t)>& buffer_of) const;

  std::shared_ptr<const CudaApi> api_;
  const Problem& problem_;
  SharedPool pool_;
  Descriptor descriptor_;
  PlacedBuffer flush_;
  std::vector<PlacedBuffer> buffers_;
  std::optional<SharedPool> own_pool_;   ///< of a placement for timed calls; never exported
  std::optional<PlacedBuffer> scratch_;  ///< what is read of flush_ goes here, piece by piece
  /// What was taken of each tensor, where there is anything to take.
  std::vector<std::optional<PlacedBuffer>> taken_;
};

}  // namespace rooflab

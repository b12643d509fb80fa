#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace rooflab {

/// Hands out pieces of one device buffer, front to back. Taking a piece costs nothing and needs no
/// CUDA call, so it is safe where cudaMalloc is not: between two timed kernels, or while a stream
/// is captured into a graph.
///
///     Workspace::Scope scope(workspace);              // gives back what is taken below
///     float* normed = workspace.take<float>(tokens * hidden);
class Workspace {
 public:
  /// `memory` is device memory aligned to 256 bytes, as cudaMalloc returns it, and stays the
  /// caller's.
  /// @throws std::invalid_argument when it is null or lies elsewhere
  Workspace(void* memory, std::size_t bytes) : memory_(static_cast<char*>(memory)), size_(bytes) {
    if (memory == nullptr && bytes > 0) {
      throw std::invalid_argument("a workspace of " + std::to_string(bytes) +
                                  " bytes got a null pointer: allocate them with cudaMalloc first");
    }
    const std::uintptr_t behind = reinterpret_cast<std::uintptr_t>(memory) % kAlignment;
    if (behind != 0) {
      throw std::invalid_argument(
          "a workspace needs memory at a multiple of 256 bytes, and this "
          "lies " +
          std::to_string(behind) + " bytes behind one: pass a pointer as cudaMalloc returned it");
    }
  }

  /// Room for `count` elements, aligned to 256 bytes; it holds garbage.
  /// @throws std::length_error when less than that is left
  template <typename T>
  T* take(std::size_t count) {
    const std::size_t begin = (used_ + kAlignment - 1) / kAlignment * kAlignment;
    if (begin > size_ || count > (size_ - begin) / sizeof(T)) {
      throw std::length_error("the workspace has " + std::to_string(size_) + " bytes, of which " +
                              std::to_string(used_) + " are in use: there is no room for " +
                              std::to_string(count) + " elements of " + std::to_string(sizeof(T)) +
                              " bytes more");
    }
    used_ = begin + count * sizeof(T);
    return reinterpret_cast<T*>(memory_ + begin);
  }

  /// Bytes in use, gaps between pieces included.
  std::size_t used() const { return used_; }

  /// Gives back, when it ends, all that was taken since it began. Kernels that were launched before
  /// still use that memory in peace, as long as whoever takes it next works on the same stream.
  class Scope {
   public:
    explicit Scope(Workspace& workspace) : workspace_(workspace), used_(workspace.used_) {}
    ~Scope() { workspace_.used_ = used_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Workspace& workspace_;
    std::size_t used_;
  };

 private:
  static constexpr std::size_t kAlignment = 256;

  char* memory_;
  std::size_t size_;
  std::size_t used_ = 0;
};

}  // namespace rooflab

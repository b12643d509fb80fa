#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

/// CUDA arrays: ordinary device memory in rows, of which the program has only a handle.
namespace simgpu::runtime {

struct Array {
  cudaChannelFormatDesc format{};
  cudaExtent extent{};  ///< as asked for: in elements, 0 for directions that it lacks
  unsigned flags = 0;
  std::uint64_t address = 0;
  std::size_t pitch = 0;  ///< bytes

  std::size_t element_bytes() const {
    return static_cast<std::size_t>(format.x + format.y + format.z + format.w) / 8;
  }
  std::size_t row_bytes() const { return extent.width * element_bytes(); }
  std::size_t rows() const { return extent.height == 0 ? 1 : extent.height; }
  std::size_t slices() const { return extent.depth == 0 ? 1 : extent.depth; }
  std::size_t bytes() const { return pitch * rows() * slices(); }
  cudaPitchedPtr memory() const {
    return {reinterpret_cast<void*>(address), pitch, row_bytes(), rows()};
  }
};

/// The arrays of the program. A handle is the address of its entry.
class ArrayTable {
 public:
  cudaArray_t add(const Array& array);
  /// @returns false when there is none; `array` is a copy
  bool find(cudaArray_const_t handle, Array* array);
  void remove(cudaArray_const_t handle);
  void clear();

 private:
  std::mutex mutex_;
  std::map<cudaArray_const_t, std::unique_ptr<Array>> arrays_;
};

/// Whether channels of this format can be in arrays and textures: 1, 2 or 4 of 8, 16 or 32 bits.
bool is_texel(const cudaChannelFormatDesc& format);
int channels_of(const cudaChannelFormatDesc& format);

/// @returns a cudaError_t
int make_array(cudaArray_t* handle, const cudaChannelFormatDesc* format, cudaExtent extent,
               unsigned flags);
int free_array(cudaArray_t handle);
/// The array behind a handle. @returns false when there is none; `array` is a copy
bool find_array(cudaArray_const_t handle, Array* array);

}  // namespace simgpu::runtime

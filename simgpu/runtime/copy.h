#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "simgpu/device/protocol.h"

namespace simgpu::runtime {

/// A copy of `height` rows of `width` bytes; a one-dimensional copy has one row.
struct Copy {
  void* destination = nullptr;
  size_t destination_pitch = 0;
  const void* source = nullptr;
  size_t source_pitch = 0;
  size_t width = 0, height = 1;
  cudaMemcpyKind kind = cudaMemcpyDefault;
  cudaStream_t stream = nullptr;
  bool asynchronous = false;
};

/// `height` rows of `width` elements that get one value.
struct Fill {
  void* destination = nullptr;
  size_t pitch = 0;  ///< bytes
  unsigned value = 0;
  unsigned element_bytes = 1;  ///< 1, 2 or 4
  size_t width = 0, height = 1;
  cudaStream_t stream = nullptr;
  bool asynchronous = false;
};

/// What is wrong with the sizes, pointers or direction. @returns a cudaError_t
int check(const Copy& copy);
int check(const Fill& fill);
/// Tells the device of a copy whose direction or pointers check() has refused: it becomes a
/// finding.
void report_misuse(const Copy& copy);
inline void report_misuse(const Fill& /*fill*/) {}
inline bool is_empty(const Copy& copy) { return copy.width == 0 || copy.height == 0; }
inline bool is_empty(const Fill& fill) { return fill.width == 0 || fill.height == 0; }

/// From where to where, by the addresses alone.
cudaMemcpyKind direction_of(const Copy& copy);

/// Carries out a copy or fill that check() has found right. @returns a cudaError_t
int perform(const Copy& copy);
int perform(const Fill& fill);

/// The device's side of a copy between host and device.
protocol::CopyRequest host_request(const Copy& copy);
protocol::DeviceCopyRequest device_request(const Copy& copy);
protocol::FillRequest fill_request(const Fill& fill);

/// The bytes of a copy that the device has started already.
int send_rest(const Copy& copy);
int receive_rest(const Copy& copy);
int copy_on_host(const Copy& copy);

}  // namespace simgpu::runtime

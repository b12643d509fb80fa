#pragma once

#include <cstdint>
#include <utility>

#include "simgpu/runtime/client.h"
#include "simgpu/runtime/cuda_version.h"

/// What the files that define the public functions share.
namespace simgpu::runtime {

/// Remembers an error for cudaGetLastError and hands it on. "Not ready" is an answer, not an error.
cudaError_t record(cudaError_t error);
inline cudaError_t record(int error) { return record(static_cast<cudaError_t>(error)); }

/// Tells the device of a launch that failed by <<<>>>: what nvcc makes of that drops the error.
/// @returns the error
cudaError_t hide_from_caller(cudaError_t error);

/// Says on stderr that a function is not implemented, by name, and returns cudaErrorNotSupported.
cudaError_t refuse(const char* function, const char* what = nullptr);

/// While one lives, a function that a stream or a graph calls is running on this thread. CUDA
/// serves none of its calls.
class HostFunctionScope {
 public:
  HostFunctionScope() { ++depth(); }
  ~HostFunctionScope() { --depth(); }
  HostFunctionScope(const HostFunctionScope&) = delete;
  HostFunctionScope& operator=(const HostFunctionScope&) = delete;

  static bool is_open() { return depth() != 0; }

 private:
  static int& depth();
};

/// Runs the body of a public function: nothing may be thrown through the C interface.
template <typename Body>
cudaError_t api(Body body) noexcept {
  try {
    if (HostFunctionScope::is_open()) return record(cudaErrorNotPermitted);
    return record(body());
  } catch (...) {
    return record(cudaErrorUnknown);
  }
}

/// The same for calls that are one request whose answer is only an error.
template <typename... Values>
cudaError_t request(GuestOperation operation, const Values&... values) noexcept {
  return api([&] { return Client::instance().ask(operation, values...).error; });
}

/// The device hears of a call that these libraries carry out by themselves.
inline void note_host_call(const protocol::HostCall& call) noexcept {
  static_cast<void>(request(GuestOperation::host_call, call));
}

/// A request whose answer is one value.
template <typename T, typename... Values>
cudaError_t request_value(T* result, GuestOperation operation, const Values&... values) noexcept {
  return api([&] {
    if (result == nullptr) return static_cast<int>(cudaErrorInvalidValue);
    const Reply reply = Client::instance().ask(operation, values...);
    if (reply.ok()) *result = reply.reader().get<T>();
    return reply.error;
  });
}

inline std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}
/// The default stream of code compiled with --default-stream per-thread.
inline cudaStream_t per_thread(cudaStream_t stream) {
  return stream == nullptr ? cudaStreamPerThread : stream;
}

}  // namespace simgpu::runtime

#include "simgpu/runtime/library_call.h"

#include <algorithm>
#include <cstring>

#include "simgpu/runtime/client.h"

int simgpu_library_call(const void* request, std::size_t request_bytes, void* answer,
                        std::size_t answer_bytes) {
  using simgpu::runtime::Client;
  using simgpu::runtime::GuestOperation;
  try {
    const auto reply = Client::instance().call(
        GuestOperation::blas, {static_cast<const std::byte*>(request), request_bytes});
    if (answer != nullptr && !reply.data.empty()) {
      std::memcpy(answer, reply.data.data(), std::min(answer_bytes, reply.data.size()));
    }
    return reply.error;
  } catch (...) {
    constexpr int kUnknown = 999;  // cudaErrorUnknown
    return kUnknown;
  }
}

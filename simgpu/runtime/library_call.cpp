#include "simgpu/runtime/library_call.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include "simgpu/cublas/blas_request.h"
#include "simgpu/runtime/capture.h"
#include "simgpu/runtime/client.h"

namespace {

using simgpu::runtime::Client;
using simgpu::runtime::GuestOperation;

int exchange(GuestOperation operation, const void* request, std::size_t request_bytes, void* answer,
             std::size_t capacity, std::size_t* answered) {
  try {
    const auto reply =
        Client::instance().call(operation, {static_cast<const std::byte*>(request), request_bytes});
    const std::size_t bytes = answer == nullptr ? 0 : std::min(capacity, reply.data.size());
    if (bytes != 0) std::memcpy(answer, reply.data.data(), bytes);
    if (answered != nullptr) *answered = bytes;
    return reply.error;
  } catch (...) {
    constexpr int kUnknown = 999;  // cudaErrorUnknown
    return kUnknown;
  }
}

/// A routine on a stream that is being captured becomes a node. @returns nothing if it is to be
/// carried out now
std::optional<int> capture_routine(const void* request, std::size_t request_bytes) {
  using simgpu::blas::Routine;
  simgpu::blas::Request routine;
  if (request_bytes != sizeof routine) return std::nullopt;
  std::memcpy(&routine, request, sizeof routine);
  auto* stream = reinterpret_cast<cudaStream_t>(routine.stream);
  const bool waits = (routine.routine == Routine::dot || routine.routine == Routine::nrm2) &&
                     routine.result_address == 0;
  if (waits) {  // for the result, which the host wants at once
    const int error = simgpu::runtime::permit_stream(stream);
    return error == 0 ? std::nullopt : std::optional(error);
  }
  const auto* bytes = static_cast<const std::byte*>(request);
  return simgpu::runtime::capture(stream,
                                  simgpu::runtime::BlasWork{{bytes, bytes + request_bytes}});
}

}  // namespace

int simgpu_library_call(const void* request, std::size_t request_bytes, void* answer,
                        std::size_t answer_bytes) {
  if (const auto captured = capture_routine(request, request_bytes)) return *captured;
  return exchange(GuestOperation::blas, request, request_bytes, answer, answer_bytes, nullptr);
}

void simgpu_note_blas_handle(bool is_made) {
  using simgpu::protocol::HostCallKind;
  const simgpu::protocol::HostCall call{.kind = is_made ? HostCallKind::create_blas_handle
                                                        : HostCallKind::destroy_blas_handle};
  exchange(GuestOperation::host_call, &call, sizeof call, nullptr, 0, nullptr);
}

int simgpu_activity_call(std::uint32_t operation, const void* request, std::size_t request_bytes,
                         void* answer, std::size_t capacity, std::size_t* answered) {
  return exchange(static_cast<GuestOperation>(operation), request, request_bytes, answer, capacity,
                  answered);
}

void simgpu_report_refusal(const char* function, bool in_part) {
  if (std::getenv("SIMGPU_FD") == nullptr) return;  // there is nobody to report to
  try {
    simgpu::wire::Writer writer;
    writer.put(simgpu::protocol::Refusal{.in_part = in_part ? 1U : 0U});
    writer.put_string(std::string_view(function).substr(0, simgpu::protocol::kMaxFunctionName));
    Client::instance().call(GuestOperation::refused, writer.bytes());
  } catch (...) {  // NOLINT(bugprone-empty-catch): the finding is lost, the error is not
  }
}

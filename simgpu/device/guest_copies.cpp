// What a guest may ask to have copied and filled.

#include <algorithm>

#include "simgpu/device/guest_session.h"

namespace simgpu {
namespace {

/// Rows without gaps are one row.
template <typename Request>
void join_rows(Request& request, std::uint64_t pitch) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  if (pitch != request.width || request.height <= 1) return;
  if (request.width > kMost || request.height > kMost / std::max<std::uint64_t>(request.width, 1))
    return;
  request.width *= request.height;
  request.height = 1;
}

}  // namespace

CudaError GuestSession::copy_to_device(Call& call) { return begin_copy(true, call); }

CudaError GuestSession::copy_from_device(Call& call) { return begin_copy(false, call); }

CudaError GuestSession::begin_copy(bool to_device, Call& call) {
  transfer_ = {};
  auto request = call.request.get<protocol::CopyRequest>();
  join_rows(request, request.pitch);
  if (request.asynchronous_call != 0) device_.log().rename_call("cudaMemcpyAsync");
  if (const CudaError error = device_.copies().begin(request, to_device);
      error != CudaError::success) {
    call.request.rest();
    return error;
  }
  transfer_ = {.request = request,
               .to_device = to_device,
               .done = 0,
               .total = request.width * request.height};
  return copy_more(call);
}

CudaError GuestSession::copy_more(Call& call) {
  const std::uint64_t left = transfer_.total - transfer_.done;
  if (transfer_.to_device) {
    const auto bytes = call.request.rest();
    if (bytes.size() > left) throw wire::MessageError("more bytes than the copy has");
    if (!bytes.empty()) device_.copies().write_packed(transfer_.request, transfer_.done, bytes);
    transfer_.done += bytes.size();
  } else {
    const auto count = std::min<std::uint64_t>(left, protocol::kChunkBytes);
    if (count > 0) {
      device_.copies().read_packed(transfer_.request, transfer_.done, call.answer.reserve(count));
    }
    transfer_.done += count;
  }
  return CudaError::success;
}

CudaError GuestSession::copy_on_device(Call& call) {
  auto request = call.request.get<protocol::DeviceCopyRequest>();
  if (request.source_pitch == request.destination_pitch) join_rows(request, request.source_pitch);
  if (request.asynchronous_call != 0) device_.log().rename_call("cudaMemcpyAsync");
  return device_.copies().copy_on_device(request);
}

CudaError GuestSession::fill(Call& call) {
  auto request = call.request.get<protocol::FillRequest>();
  join_rows(request, request.pitch);
  if (request.asynchronous_call != 0) device_.log().rename_call("cudaMemsetAsync");
  return device_.copies().fill(request);
}

}  // namespace simgpu

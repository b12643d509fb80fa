#include "simgpu/runtime/client.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "simgpu/device/cuda_error.h"
#include "simgpu/device/timeline.h"
#include "simgpu/runtime/caller.h"
#include "simgpu/runtime/device_range.h"

namespace simgpu::runtime {
namespace {

constexpr int kDevicesUnavailable = 46;  // cudaErrorDevicesUnavailable

int descriptor_from_environment() {
  const char* text = std::getenv("SIMGPU_FD");
  if (text == nullptr) return -1;
  const std::string_view view(text);
  int number = -1;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), number);
  return error == std::errc() && end == view.data() + view.size() ? number : -1;
}

/// Whether a request is sent because something is wrong.
bool is_about_a_mistake(GuestOperation operation) {
  return operation == GuestOperation::misuse || operation == GuestOperation::refused ||
         operation == GuestOperation::launch_unasked ||
         operation == GuestOperation::host_dereference || operation == GuestOperation::result_used;
}

/// Whether something that is wrong with a request may be told with its caller's line, now or later.
bool may_need_caller(GuestOperation operation) {
  switch (operation) {
    case GuestOperation::allocate:
    case GuestOperation::allocate_array:
    case GuestOperation::allocate_shared:
    case GuestOperation::pool_allocate:
    case GuestOperation::pool_create:
    case GuestOperation::release:
    case GuestOperation::release_pinned:
    case GuestOperation::pool_release:
    case GuestOperation::copy_to_device:
    case GuestOperation::copy_from_device:
    case GuestOperation::copy_on_device:
    case GuestOperation::fill:
    case GuestOperation::launch:
    case GuestOperation::launch_unasked:
    case GuestOperation::blas:
    case GuestOperation::stream_create:
    case GuestOperation::stream_synchronize:
    case GuestOperation::stream_wait:
    case GuestOperation::event_create:
    case GuestOperation::event_record:
    case GuestOperation::event_synchronize:
    case GuestOperation::event_elapsed:
    case GuestOperation::device_synchronize:
    case GuestOperation::graph_end:
    case GuestOperation::graph_launch:
    case GuestOperation::image_create:
    case GuestOperation::host_call:
    case GuestOperation::host_dereference:
    case GuestOperation::result_used:
    case GuestOperation::misuse:
    case GuestOperation::refused:
      return true;
    default:
      return false;
  }
}

/// Whether it neither waits for work on the device nor gives it memory of the host to read.
bool waits_for_nothing(GuestOperation operation) {
  return operation == GuestOperation::event_record || operation == GuestOperation::stream_wait ||
         operation == GuestOperation::error_asked;
}

/// Whether work may be done behind it: the program waits or asks, or the host's memory is copied.
bool may_wait(GuestOperation operation) {
  switch (operation) {
    case GuestOperation::release:
    case GuestOperation::release_pinned:
    case GuestOperation::reset:
    case GuestOperation::copy_to_device:
    case GuestOperation::copy_from_device:
    case GuestOperation::copy_more:
    case GuestOperation::stream_synchronize:
    case GuestOperation::stream_query:
    case GuestOperation::event_synchronize:
    case GuestOperation::event_query:
    case GuestOperation::device_synchronize:
    case GuestOperation::blas:  // a result may come back
    case GuestOperation::host_call:
      return true;
    default:
      return false;
  }
}

/// Returns when the device has answered, or after a while. A short launch takes less time than a
/// sleeping process needs to wake up.
void stay_awake(int socket) {
  constexpr std::chrono::microseconds kAwake{50};
  const auto end = std::chrono::steady_clock::now() + kAwake;
  pollfd answer{.fd = socket, .events = POLLIN, .revents = 0};
  while (poll(&answer, 1, 0) == 0 && std::chrono::steady_clock::now() < end) sched_yield();
}

}  // namespace

Client& Client::instance() {
  // Never destroyed: programs call the runtime from their own static destructors.
  static Client& client = *new Client;  // NOLINT(cppcoreguidelines-owning-memory)
  return client;
}

Client::Client() {
  pthread_atfork(nullptr, nullptr, [] { Client::instance().forget(); });
}

bool Client::connected() {
  const std::lock_guard lock(mutex_);
  if (!tried_) connect();
  return socket_ >= 0;
}

void Client::connect() {
  tried_ = true;
  socket_ = descriptor_from_environment();
  if (socket_ < 0) {
    std::fputs("simgpu: no device: start the program with `simgpu run -- ./program`\n", stderr);
    return;
  }
  fcntl(socket_, F_SETFD, FD_CLOEXEC);
  wire::Writer writer;
  writer.put(protocol::kVersion);
  const Reply reply = exchange(GuestOperation::hello, writer.bytes(), {});
  if (!reply.ok() || reply.data.size() < sizeof properties_) {
    std::fputs("simgpu: the device process does not answer; start the program again\n", stderr);
    socket_ = -1;
    return;
  }
  properties_ = reply.reader().get<protocol::Properties>();
  reserve_device_range();
}

bool Client::send_all(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

bool Client::receive_all(std::span<std::byte> bytes, Descriptor* descriptor) {
  while (!bytes.empty()) {
    iovec part{.iov_base = bytes.data(), .iov_len = bytes.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> ancillary{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (descriptor != nullptr) {
      message.msg_control = ancillary.data();
      message.msg_controllen = ancillary.size();
    }
    const ssize_t count = recvmsg(socket_, &message, MSG_CMSG_CLOEXEC);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    const cmsghdr* item = CMSG_FIRSTHDR(&message);
    if (item != nullptr && item->cmsg_level == SOL_SOCKET && item->cmsg_type == SCM_RIGHTS) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(item), sizeof number);
      *descriptor = Descriptor(number);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

Reply Client::lose() {
  std::fputs("simgpu: the connection to the device process is lost\n", stderr);
  socket_ = -1;
  lost_ = true;
  return {.error = kDevicesUnavailable, .data = {}};
}

Reply Client::exchange(GuestOperation operation, std::span<const std::byte> payload,
                       std::span<const std::byte> bulk) {
  wire::Writer writer;
  const bool with_caller = may_need_caller(operation);
  const std::size_t bytes =
      payload.size() + bulk.size() + (with_caller ? sizeof(protocol::Caller) : 0);
  writer.put(wire::Header{
      .bytes = static_cast<std::uint32_t>(bytes),
      .tag = static_cast<std::uint32_t>(operation) | (with_caller ? protocol::kWithCaller : 0)});
  if (with_caller) writer.put(caller_of_request(is_about_a_mistake(operation)));
  writer.append(payload);
  if (!send_all(writer.bytes()) || !send_all(bulk)) return lose();
  stay_awake(socket_);
  std::array<std::byte, sizeof(wire::Header) + sizeof(std::uint8_t)> start{};
  Descriptor descriptor;
  if (!receive_all(start, &descriptor)) return lose();
  wire::Reader reader(start);
  const auto header = reader.get<wire::Header>();
  const auto flags = reader.get<std::uint8_t>();
  if (header.bytes < sizeof flags || header.bytes > protocol::kMaxPayload) return lose();
  Reply reply{
      .error = static_cast<int>(header.tag), .data = {}, .descriptor = std::move(descriptor)};
  reply.data.resize(header.bytes - sizeof flags);
  if (!receive_all(reply.data)) return lose();
  if ((flags & protocol::kHasOutput) != 0) {
    const Reply output = exchange(GuestOperation::take_output, {}, {});
    std::fwrite(output.data.data(), 1, output.data.size(), stdout);
    std::fflush(stdout);
  }
  if ((flags & protocol::kHasResults) != 0) watch_results();
  return reply;
}

void Client::watch_results() {
  const Reply reply = exchange(GuestOperation::take_results, {}, {});
  std::vector<ByteRange> pages(reply.data.size() / sizeof(ByteRange));
  wire::Reader reader = reply.reader();
  for (ByteRange& range : pages) range = reader.get<ByteRange>();
  results_.watch(pages);
}

void Client::keep_late(std::function<void()> arrive) {
  const std::lock_guard lock(late_mutex_);
  late_.push_back(std::move(arrive));
}

void Client::let_arrive() {
  const std::lock_guard lock(late_mutex_);
  if (!late_.empty()) release_results();
  for (const std::function<void()>& arrive : std::exchange(late_, {})) arrive();
}

Reply Client::call(GuestOperation operation, std::span<const std::byte> payload,
                   std::span<const std::byte> bulk) {
  if (may_wait(operation)) release_results();
  if (!waits_for_nothing(operation)) let_arrive();
  if (!connected()) {
    // A loop that looks at no error would go on for ever.
    constexpr std::uint64_t kMostCallsWithoutDevice = 10'000;
    if (lost_ && ++calls_without_device_ > kMostCallsWithoutDevice) std::abort();
    return {.error = static_cast<int>(CudaError::no_device), .data = {}};
  }
  const std::lock_guard lock(mutex_);
  if (socket_ < 0) return {.error = kDevicesUnavailable, .data = {}};
  return exchange(operation, payload, bulk);
}

void Client::report_dereference(std::uint64_t address) {
  tell_of_access(GuestOperation::host_dereference, address);
}

bool Client::give_back_result(std::uint64_t address) {
  if (!results_.release_page_of(address)) return false;
  tell_of_access(GuestOperation::result_used, address);
  return true;
}

void Client::tell_of_access(GuestOperation operation, std::uint64_t address) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || socket_ < 0) return;
  wire::Writer writer;
  writer.put(address);
  exchange(operation, writer.bytes(), {});
}

std::uint64_t stream_number(const void* stream) {
  const auto handle = reinterpret_cast<std::uintptr_t>(stream);
  constexpr std::uintptr_t kLegacyHandle = 1;  // cudaStreamLegacy
  return handle == kLegacyHandle ? Timeline::kLegacyStream : handle;
}

}  // namespace simgpu::runtime

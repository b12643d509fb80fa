#include "simgpu/device/connection.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "simgpu/device/protocol.h"

namespace simgpu {
namespace {

constexpr std::size_t kReadBytes = 256u << 10;
/// One message may be complete and the next under way; more is not taken in until the first is
/// handled.
constexpr std::size_t kMostInput = sizeof(wire::Header) + protocol::kMaxPayload + kReadBytes;

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

Connection::Connection(Descriptor socket, bool accepts_descriptor)
    : socket_(std::move(socket)), accepts_descriptor_(accepts_descriptor) {
  fcntl(socket_.get(), F_SETFL, fcntl(socket_.get(), F_GETFL) | O_NONBLOCK);
  fcntl(socket_.get(), F_SETFD, FD_CLOEXEC);
}

bool Connection::receive() {
  const std::span<const std::byte> waiting = pending();
  if (waiting.size() >= kMostInput) return true;
  std::ranges::copy(waiting, input_.begin());
  consumed_ = 0;
  filled_ = waiting.size();
  // Never made smaller: filling it with zeros again would take longer than most requests do.
  if (input_.size() < filled_ + kReadBytes) input_.resize(filled_ + kReadBytes);
  iovec part{.iov_base = input_.data() + filled_, .iov_len = kReadBytes};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> ancillary{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (accepts_descriptor_) {
    message.msg_control = ancillary.data();
    message.msg_controllen = ancillary.size();
  }
  const ssize_t count = recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC);
  if (count < 0) return would_block();
  filled_ += static_cast<std::size_t>(count);
  for (cmsghdr* item = CMSG_FIRSTHDR(&message); item != nullptr;
       item = CMSG_NXTHDR(&message, item)) {
    if (item->cmsg_level == SOL_SOCKET && item->cmsg_type == SCM_RIGHTS) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(item), sizeof number);
      received_ = Descriptor(number);
    }
  }
  return count > 0;
}

std::span<const std::byte> Connection::pending() const {
  return std::span(input_).subspan(consumed_, filled_ - consumed_);
}

bool Connection::has_message() const {
  const std::span<const std::byte> waiting = pending();
  if (waiting.size() < sizeof(wire::Header)) return false;
  const auto header = wire::Reader(waiting).get<wire::Header>();
  return header.bytes > protocol::kMaxPayload || waiting.size() - sizeof header >= header.bytes;
}

std::optional<Connection::Message> Connection::next() {
  if (!has_message()) return std::nullopt;
  const auto header = wire::Reader(pending()).get<wire::Header>();
  if (header.bytes > protocol::kMaxPayload) throw wire::MessageError("message is over the limit");
  const auto payload = pending().subspan(sizeof header, header.bytes);
  consumed_ += sizeof header + header.bytes;
  return Message{.operation = header.tag, .payload = {payload.begin(), payload.end()}};
}

void Connection::reply(std::uint32_t tag, std::span<const std::byte> payload,
                       Descriptor descriptor) {
  if (!has_output()) {
    output_.clear();
    sent_ = 0;
  }
  wire::Writer writer;
  writer.put(wire::Header{.bytes = static_cast<std::uint32_t>(payload.size()), .tag = tag});
  output_.insert(output_.end(), writer.bytes().begin(), writer.bytes().end());
  output_.insert(output_.end(), payload.begin(), payload.end());
  if (descriptor) to_send_ = std::move(descriptor);
}

ssize_t Connection::send_some() {
  iovec part{.iov_base = output_.data() + sent_, .iov_len = output_.size() - sent_};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> ancillary{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (to_send_) {
    message.msg_control = ancillary.data();
    message.msg_controllen = ancillary.size();
    cmsghdr* item = CMSG_FIRSTHDR(&message);
    item->cmsg_level = SOL_SOCKET;
    item->cmsg_type = SCM_RIGHTS;
    item->cmsg_len = CMSG_LEN(sizeof(int));
    const int number = to_send_.get();
    std::memcpy(CMSG_DATA(item), &number, sizeof number);
  }
  const ssize_t count = sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (count > 0) to_send_.reset();
  return count;
}

bool Connection::send() {
  while (has_output()) {
    const ssize_t count = send_some();
    if (count < 0) return would_block();
    sent_ += static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace simgpu

#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "simgpu/device/cuda_error.h"
#include "simgpu/device/device_process.h"
#include "simgpu/device/protocol.h"
#include "simgpu/device/wire.h"
#include "simgpu/memory/descriptor.h"

/// For tests of the device process: a guest that writes its bytes by hand.
namespace simgpu {

/// An A100 on one CPU thread.
inline DeviceProcess start() {
  return DeviceProcess::start({.program = std::string(ROOFLAB_BINARY_DIR) + "/bin/simgpu-device",
                               .gpu = std::string(ROOFLAB_SOURCE_DIR) + "/specs/gpus/a100.toml",
                               .workers = 1});
}

/// A guest without any manners.
class RawGuest {
 public:
  explicit RawGuest(DeviceProcess& device) : socket_(device.connect_guest()) {
    const timeval limit{.tv_sec = 20, .tv_usec = 0};
    setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }

  void send_bytes(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t count = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return;
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
  }
  void send_message(std::uint32_t operation, std::span<const std::byte> payload) {
    wire::Writer writer;
    writer.put(wire::Header{.bytes = static_cast<std::uint32_t>(payload.size()), .tag = operation});
    writer.append(payload);
    send_bytes(writer.bytes());
  }
  template <typename... Values>
  void request(protocol::GuestOperation operation, const Values&... values) {
    wire::Writer writer;
    (writer.put(values), ...);
    send_message(static_cast<std::uint32_t>(operation), writer.bytes());
  }

  struct Answer {
    bool connected = false;
    CudaError error = CudaError::unknown;
    std::vector<std::byte> data;  ///< after the flags
  };
  Answer answer() {
    wire::Header header;
    if (!receive(std::as_writable_bytes(std::span(&header, 1)))) return {};
    std::vector<std::byte> data(header.bytes);
    if (!receive(data) || data.empty()) return {};
    data.erase(data.begin());
    return {
        .connected = true, .error = static_cast<CudaError>(header.tag), .data = std::move(data)};
  }
  std::uint64_t allocate(std::uint64_t bytes) {
    request(protocol::GuestOperation::allocate, bytes);
    const Answer reply = answer();
    return reply.data.size() >= 8 ? wire::Reader(reply.data).get<std::uint64_t>() : 0;
  }
  void hang_up() { socket_.reset(); }

 private:
  bool receive(std::span<std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t count = recv(socket_.get(), bytes.data(), bytes.size(), 0);
      if (count <= 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return true;
  }

  Descriptor socket_;
};

}  // namespace simgpu

#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simgpu/device/cuda_error.h"
#include "simgpu/device/device_process.h"
#include "simgpu/device/protocol.h"
#include "simgpu/device/wire.h"
#include "simgpu/memory/descriptor.h"

/// For tests of the device process: a guest that writes its bytes by hand.
namespace simgpu {

/// An A100.
/// @param budget warp instructions of one launch
inline DeviceProcess start(unsigned workers = 1, std::uint64_t budget = 20'000'000'000) {
  return DeviceProcess::start({.program = std::string(ROOFLAB_BINARY_DIR) + "/bin/simgpu-device",
                               .gpu = std::string(ROOFLAB_SOURCE_DIR) + "/specs/gpus/a100.toml",
                               .workers = workers,
                               .instruction_budget = budget});
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
  /// What loading a fat binary or the text of a PTX module answers: the error, and a handle.
  Answer load(std::string_view program) {
    request(protocol::GuestOperation::module_begin, static_cast<std::uint64_t>(program.size()));
    if (Answer refused = answer(); refused.error != CudaError::success) return refused;
    for (auto rest = std::as_bytes(std::span(program)); !rest.empty();) {
      const auto chunk = rest.first(std::min<std::size_t>(rest.size(), protocol::kChunkBytes));
      send_message(static_cast<std::uint32_t>(protocol::GuestOperation::module_data), chunk);
      if (Answer refused = answer(); refused.error != CudaError::success) return refused;
      rest = rest.subspan(chunk.size());
    }
    request(protocol::GuestOperation::module_end);
    return answer();
  }
  /// Launches a module's first kernel, waits for it, and tells what became of it.
  template <typename... Parameters>
  CudaError run(std::uint64_t module, Dim3 grid, Dim3 block, const Parameters&... parameters) {
    request(protocol::GuestOperation::launch,
            protocol::LaunchMessage{
                .module = module, .kernel = 0, .stream = 0, .grid = grid, .block = block},
            parameters...);
    if (const Answer launched = answer(); launched.error != CudaError::success) {
      return launched.error;
    }
    request(protocol::GuestOperation::device_synchronize);
    return answer().error;
  }
  int descriptor() const { return socket_.get(); }
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

/// The most bytes of the machine's memory that the device process has held.
inline std::uint64_t peak_memory_of(const DeviceProcess& device) {
  std::ifstream status("/proc/" + std::to_string(device.process_id()) + "/status");
  for (std::string word; status >> word;) {
    std::uint64_t kibibytes = 0;
    if (word == "VmHWM:" && status >> kibibytes) return kibibytes << 10;
  }
  return ~std::uint64_t{0};
}

/// The device still works for the trusted side and for the next guest.
inline void expect_healthy(DeviceProcess& device) {
  const std::array<std::byte, 3> bytes{std::byte{1}, std::byte{2}, std::byte{3}};
  std::array<std::byte, 3> back{};
  const std::uint64_t address = device.allocate(bytes.size(), "probe");
  device.write(address, bytes);
  device.read(address, back);
  EXPECT_EQ(back, bytes);
  device.release(address);
  RawGuest next(device);
  EXPECT_NE(next.allocate(16), 0u);
}

}  // namespace simgpu

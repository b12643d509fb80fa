#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "simgpu/device/protocol.h"
#include "simgpu/device/wire.h"
#include "simgpu/memory/descriptor.h"
#include "simgpu/runtime/watched_pages.h"

/// The guest's side of the connection to the device process. Compiled into libcudart; it does
/// nothing but turn calls into requests, for nothing that runs in the guest is trusted.
namespace simgpu::runtime {

using protocol::GuestOperation;

/// The answer to one request: a cudaError_t and data.
struct Reply {
  int error = 0;
  std::vector<std::byte> data;
  Descriptor descriptor = {};  ///< that came with it

  bool ok() const { return error == 0; }
  wire::Reader reader() const { return wire::Reader(data); }
};

class Client {
 public:
  /// The process's connection, made at the first use from the descriptor that SIMGPU_FD names.
  static Client& instance();

  /// Whether there is a device; says on stderr, once, why not.
  bool connected();
  const protocol::Properties& properties() const { return properties_; }

  /// One request and its answer. Device printf output that waits is written to stdout on the way.
  Reply call(GuestOperation operation, std::span<const std::byte> payload,
             std::span<const std::byte> bulk = {});

  template <typename... Values>
  Reply ask(GuestOperation operation, const Values&... values) {
    wire::Writer writer;
    (writer.put(values), ...);
    return call(operation, writer.bytes());
  }

  /// Held over the several requests of one copy, or of one module that is loaded, so that those of
  /// other threads do not come between, nor a reset.
  std::mutex& transfers() { return transfers_; }
  /// The same over those of one launch of a graph. Taken before transfers().
  std::mutex& graph_launches() { return graph_launches_; }

  /// Bytes that an asynchronous copy has for the host's memory arrive late, as they may on a GPU:
  /// not before the program asks the device for something else.
  void keep_late(std::function<void()> arrive);

  /// The program may use what kernels have stored to its memory, or the library itself does.
  void release_results() { results_.release(); }

  /// From the fault handler: tells the device of a dereference, unless a request is under way.
  void report_dereference(std::uint64_t address);
  /// From the fault handler: whether the access may be repeated, since the page was kept from the
  /// program for what a kernel under way stores there. Tells the device of it.
  bool give_back_result(std::uint64_t address);
  /// After fork() the child has no device, as with CUDA.
  void forget() { socket_ = -1; }

 private:
  Client();
  void connect();
  Reply exchange(GuestOperation operation, std::span<const std::byte> payload,
                 std::span<const std::byte> bulk);
  bool send_all(std::span<const std::byte> bytes);
  /// @param descriptor takes one that comes with the bytes
  bool receive_all(std::span<std::byte> bytes, Descriptor* descriptor = nullptr);
  Reply lose();
  void let_arrive();
  void watch_results();
  /// From the fault handler.
  void tell_of_access(GuestOperation operation, std::uint64_t address);

  std::mutex mutex_;
  std::mutex transfers_;
  std::mutex graph_launches_;
  std::mutex late_mutex_;
  std::vector<std::function<void()>> late_;  ///< see keep_late()
  WatchedPages results_;
  bool tried_ = false;
  int socket_ = -1;
  std::atomic<bool> lost_ = false;  ///< there was a connection
  std::atomic<std::uint64_t> calls_without_device_ = 0;
  protocol::Properties properties_;
};

/// What a launch or copy calls a stream: its number in the device process.
std::uint64_t stream_number(const void* stream);

}  // namespace simgpu::runtime

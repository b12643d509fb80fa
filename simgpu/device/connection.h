#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "simgpu/device/wire.h"
#include "simgpu/memory/descriptor.h"

namespace simgpu {

/// The device process's end of one connection. Never blocks: a peer that sends half a message, or
/// does not take its replies, delays only itself.
class Connection {
 public:
  struct Message {
    std::uint32_t operation = 0;
    std::vector<std::byte> payload;
  };

  /// @param accepts_descriptor whether the peer may hand over a descriptor with a message
  Connection(Descriptor socket, bool accepts_descriptor);

  int descriptor() const { return socket_.get(); }
  /// Whether replies wait to be sent; until then nothing more is read.
  bool has_output() const { return sent_ < output_.size(); }

  /// Takes in what has arrived. @returns false when the peer is gone
  bool receive();
  /// Whether next() has something to say without more input.
  bool has_message() const;
  /// The next whole message. @throws wire::MessageError when its length is out of bounds
  std::optional<Message> next();
  /// @param descriptor goes with the reply's first byte, if it is one; one reply in a row may have
  /// one
  void reply(std::uint32_t tag, std::span<const std::byte> payload, Descriptor descriptor = {});
  /// Sends what the peer will take. @returns false when the peer is gone
  bool send();
  /// The descriptor that came with the latest messages, if any.
  Descriptor take_descriptor() { return std::move(received_); }

 private:
  ssize_t send_some();
  std::span<const std::byte> pending() const;

  Descriptor socket_;
  Descriptor received_;
  bool accepts_descriptor_;
  std::vector<std::byte> input_;  // from consumed_ to filled_ what has come and is not yet handled
  std::size_t consumed_ = 0;
  std::size_t filled_ = 0;
  std::vector<std::byte> output_;
  std::size_t sent_ = 0;
  Descriptor to_send_;
};

}  // namespace simgpu

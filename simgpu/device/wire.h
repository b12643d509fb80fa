#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

/// How values travel between the device process and its two kinds of client: both ends are on one
/// machine, so numbers are sent as they lie in memory. Every length is checked before it is
/// believed.
namespace simgpu::wire {

/// A message that is not what the protocol says: shorter, longer, or out of range.
class MessageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Before every message.
struct Header {
  std::uint32_t bytes = 0;  ///< of the payload that follows
  std::uint32_t tag = 0;    ///< request: the operation; reply: the CudaError
};
static_assert(sizeof(Header) == 8);

class Writer {
 public:
  template <typename T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    append(std::as_bytes(std::span(&value, 1)));
  }
  void put_string(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    append(std::as_bytes(std::span(text)));
  }
  void append(std::span<const std::byte> bytes) {
    const std::size_t old_size = bytes_.size();
    bytes_.resize(old_size + bytes.size());
    if (!bytes.empty()) std::memcpy(bytes_.data() + old_size, bytes.data(), bytes.size());
  }
  /// Room for `count` bytes that the caller fills in before anything else is appended.
  std::span<std::byte> reserve(std::size_t count) {
    bytes_.resize(bytes_.size() + count);
    return std::span(bytes_).last(count);
  }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <typename T>
  T get() {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>);
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  /// @throws MessageError when the text is longer than `most` bytes
  std::string get_string(std::size_t most) {
    const auto length = get<std::uint32_t>();
    if (length > most) throw MessageError("text of a message is too long");
    const auto text = take(length);
    return {reinterpret_cast<const char*>(text.data()), text.size()};
  }
  std::span<const std::byte> take(std::size_t count) {
    if (count > rest_.size()) throw MessageError("message is too short");
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  std::span<const std::byte> rest() { return take(rest_.size()); }
  bool empty() const { return rest_.empty(); }
  void expect_end() const {
    if (!rest_.empty()) throw MessageError("message is too long");
  }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace simgpu::wire

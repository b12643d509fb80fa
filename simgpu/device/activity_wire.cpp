#include "simgpu/device/activity_wire.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "simgpu/device/activity_members.h"
#include "simgpu/device/wire.h"

namespace simgpu {
namespace {

template <typename T>
constexpr bool kIsNumber = std::is_arithmetic_v<T> || std::is_enum_v<T>;

class Encoder {
 public:
  void operator()(const auto&... values) { (put(values), ...); }
  std::vector<std::byte> take() { return writer_.take(); }

 private:
  template <typename T>
  void put(const T& value) {
    if constexpr (kIsNumber<T>) {
      writer_.put(value);
    } else {
      members(*this, value);
    }
  }
  void put(const Code& code) { writer_.put(code.number()); }
  void put(const std::string& text) { writer_.put_string(text); }
  template <typename T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  template <typename T>
  void put(const std::vector<T>& values) {
    put(static_cast<std::uint32_t>(values.size()));
    for (const T& value : values) put(value);
  }
  template <typename Key, typename T>
  void put(const std::map<Key, T>& values) {
    put(static_cast<std::uint32_t>(values.size()));
    for (const auto& [key, value] : values) (*this)(key, value);
  }

  wire::Writer writer_;
};

class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> bytes) : reader_(bytes) {}
  void operator()(auto&... values) { (get(values), ...); }
  void expect_end() const { reader_.expect_end(); }

 private:
  template <typename T>
  void get(T& value) {
    if constexpr (kIsNumber<T>) {
      value = reader_.get<T>();
    } else {
      members(*this, value);
    }
  }
  void get(bool& value) { value = reader_.get<std::uint8_t>() != 0; }
  void get(Code& code) {
    const auto known = Code::of_number(reader_.get<std::uint16_t>());
    if (!known || !known->kind()) throw wire::MessageError("a finding that no device has");
    code = *known;
  }
  void get(FindingDetail& detail) {
    detail = reader_.get<FindingDetail>();
    if (detail > kLastDetail) throw wire::MessageError("an unknown detail of a finding");
  }
  void get(StreamWork& work) {
    work = reader_.get<StreamWork>();
    if (work > kLastStreamWork) throw wire::MessageError("unknown work on a stream");
  }
  void get(MemoryOperation& operation) {
    operation = reader_.get<MemoryOperation>();
    if (operation > MemoryOperation::set) {
      throw wire::MessageError("an unknown operation on memory");
    }
  }
  void get(Limiter& limiter) {
    limiter = reader_.get<Limiter>();
    if (limiter > kLastLimiter) throw wire::MessageError("an unknown limiter");
  }
  void get(OccupancyLimiter& limiter) {
    limiter = reader_.get<OccupancyLimiter>();
    if (limiter > kLastOccupancyLimiter)
      throw wire::MessageError("an unknown limiter of occupancy");
  }
  void get(std::string& text) {
    text = reader_.get_string(std::numeric_limits<std::uint32_t>::max());
  }
  template <typename T>
  void get(std::optional<T>& value) {
    bool has_value = false;
    get(has_value);
    if (has_value) get(value.emplace());
  }
  template <typename T>
  void get(std::vector<T>& values) {
    // One at a time: a count is believed as far as its elements are there.
    for (auto left = reader_.get<std::uint32_t>(); left != 0; --left) get(values.emplace_back());
  }
  template <typename Key, typename T>
  void get(std::map<Key, T>& values) {
    for (auto left = reader_.get<std::uint32_t>(); left != 0; --left) {
      Key key{};
      get(key);
      get(values[std::move(key)]);
    }
  }

  wire::Reader reader_;
};

}  // namespace

std::vector<std::byte> encode(const Activity& activity) {
  Encoder encoder;
  encoder(activity);
  return encoder.take();
}

Activity decode_activity(std::span<const std::byte> bytes) {
  Decoder decoder(bytes);
  Activity activity;
  decoder(activity);
  decoder.expect_end();
  return activity;
}

}  // namespace simgpu

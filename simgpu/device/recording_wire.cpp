#include "simgpu/device/recording_wire.h"

#include <bit>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "simgpu/device/wire.h"

namespace simgpu {
namespace {

using namespace replay;  // NOLINT(google-build-using-namespace): it is all about its types

constexpr std::size_t kMostText = 4096;
constexpr std::uint32_t kMostItems = 1u << 20;

/// Writes what Get reads: both go through the same members in the same order.
class Put {
 public:
  template <typename T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void operator()(const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      writer_.put(static_cast<std::uint8_t>(value));
    } else {
      writer_.put(value);
    }
  }
  void operator()(const std::string& text) {
    writer_.put_string(std::string_view(text).substr(0, kMostText));
  }
  void operator()(const Dim3& value) { writer_.put(value); }
  template <typename T>
  void operator()(const std::vector<T>& items) {
    writer_.put(static_cast<std::uint32_t>(items.size()));
    if constexpr (std::is_arithmetic_v<T>) {
      writer_.append(std::as_bytes(std::span(items)));
    } else {
      for (const T& item : items) (*this)(item);
    }
  }
  template <typename T>
  void operator()(const std::optional<T>& item) {
    (*this)(item.has_value());
    if (item) (*this)(*item);
  }
  template <typename T>
  requires(std::is_class_v<T>) void operator()(const T& item) { members(*this, item); }

  std::vector<std::byte> take() { return writer_.take(); }

 private:
  wire::Writer writer_;
};

class Get {
 public:
  explicit Get(std::span<const std::byte> bytes) : reader_(bytes) {}

  template <typename T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void operator()(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      value = reader_.get<std::uint8_t>() != 0;
    } else {
      value = reader_.get<T>();
    }
  }
  void operator()(std::string& text) { text = reader_.get_string(kMostText); }
  void operator()(Dim3& value) { value = reader_.get<Dim3>(); }
  template <typename T>
  void operator()(std::vector<T>& items) {
    const auto count = reader_.get<std::uint32_t>();
    if (count > kMostItems) throw wire::MessageError("too many items of a recording");
    if constexpr (std::is_arithmetic_v<T>) {
      const auto bytes = reader_.take(count * sizeof(T));
      items.resize(count);
      if (count > 0) std::memcpy(items.data(), bytes.data(), bytes.size());
    } else {
      for (std::uint32_t i = 0; i < count; ++i) (*this)(items.emplace_back());
    }
  }
  template <typename T>
  void operator()(std::optional<T>& item) {
    if (reader_.get<std::uint8_t>() != 0) (*this)(item.emplace());
  }
  template <typename T>
  requires(std::is_class_v<T>) void operator()(T& item) { members(*this, item); }

  void expect_end() const { reader_.expect_end(); }

 private:
  wire::Reader reader_;
};

template <typename Way, typename T, typename Member>
using OnlyOf = std::enable_if_t<std::is_same_v<std::remove_const_t<T>, Member>>;

template <typename Way, typename T>
auto members(Way& way, T& one) -> OnlyOf<Way, T, InlinedCall> {
  way(one.function), way(one.file), way(one.line), way(one.column);
}
template <typename Way, typename T>
auto members(Way& way, T& one) -> OnlyOf<Way, T, AccessSite> {
  way(one.file), way(one.line), way(one.column), way(one.block), way(one.thread);
  way(one.warp), way(one.action), way(one.inlined_at), way(one.by_thread);
  way(one.knows_thread), way(one.bytes), way(one.writes);
}
template <typename Way, typename T>
auto members(Way& way, T& one) -> OnlyOf<Way, T, Wanted::Touch> {
  way(one.launch), way(one.block), way(one.warp), way(one.number);
}
template <typename Way, typename T>
auto members(Way& way, T& one) -> OnlyOf<Way, T, Wanted> {
  way(one.kind), way(one.where), way(one.other), way(one.address), way(one.bytes);
  way(one.launch), way(one.block), way(one.warp), way(one.number);
  way(one.later), way(one.earlier);
}
template <typename Way, typename T>
auto members(Way& way, T& one) -> OnlyOf<Way, T, RegisterValues> {
  way(one.reg), way(one.type), way(one.lanes), way(one.values), way(one.name);
  way(one.place), way(one.number), way(one.loads), way(one.is_last);
  way(one.updates), way(one.first);
}
template <typename Way, typename T>
auto members(Way& way, T& one) -> OnlyOf<Way, T, LeftOut> {
  way(one.place), way(one.number);
}
template <typename Way, typename T>
auto members(Way& way, T& one) -> OnlyOf<Way, T, Access> {
  way(one.space), way(one.action), way(one.bytes), way(one.pc), way(one.lanes);
  way(one.addresses), way(one.allocation);
}
template <typename Way, typename T>
auto members(Way& way, T& one) -> OnlyOf<Way, T, SharedBytes> {
  way(one.first), way(one.bytes), way(one.warp), way(one.place);
}
template <typename Way, typename T>
auto members(Way& way, T& one) -> OnlyOf<Way, T, Place> {
  way(one.file), way(one.line), way(one.inlined_at);
}
template <typename Way, typename T>
auto members(Way& way, T& one) -> OnlyOf<Way, T, Step> {
  way(one.warp), way(one.number), way(one.place), way(one.active), way(one.exited);
  way(one.interval), way(one.instructions), way(one.is_barrier), way(one.before);
  way(one.left_out);
  way(one.others), way(one.registers), way(one.shared), way(one.accesses), way(one.unknown_now);
}
template <typename Way, typename T>
auto members(Way& way, T& one) -> OnlyOf<Way, T, RecordedWarp> {
  way(one.block), way(one.warp), way(one.registers), way(one.left_out);
}
template <typename Way, typename T>
auto members(Way& way, T& one) -> OnlyOf<Way, T, RecordedBlock> {
  way(one.index), way(one.launch), way(one.shared);
}
template <typename Way, typename T>
auto members(Way& way, T& one) -> OnlyOf<Way, T, replay::SharedArray> {
  way(one.name), way(one.offset), way(one.bytes), way(one.element), way(one.extents);
}
template <typename Way, typename T>
auto members(Way& way, T& one) -> OnlyOf<Way, T, RecordedAllocation> {
  way(one.address), way(one.bytes), way(one.label);
}
template <typename Way, typename T>
auto members(Way& way, T& one) -> OnlyOf<Way, T, Parameter> {
  way(one.name), way(one.type), way(one.bytes);
}
template <typename Way, typename T>
auto members(Way& way, T& one) -> OnlyOf<Way, T, Mark> {
  way(one.step), way(one.lane), way(one.access);
}
template <typename Way, typename T>
auto members(Way& way, T& one) -> OnlyOf<Way, T, RecordedLaunch> {
  way(one.kernel), way(one.grid), way(one.block), way(one.shared_bytes), way(one.parameters);
  way(one.arrays);
}
template <typename Way, typename T>
auto members(Way& way, T& one) -> OnlyOf<Way, T, Recording> {
  way(one.launch(0)), way(one.more), way(one.allocations), way(one.files), way(one.places),
      way(one.names);
  way(one.blocks), way(one.warps), way(one.steps), way(one.marks);
  way(one.begins_late), way(one.ends_early);
}
template <typename Way, typename T>
auto members(Way& way, T& one) -> OnlyOf<Way, T, Recorded> {
  way(one.recording), way(one.next);
}

void require(bool holds) {
  if (!holds) throw wire::MessageError("a recording contradicts itself");
}

/// Whether everything that refers to something else finds it.
class Check {
 public:
  explicit Check(const Recording& recording) : recording_(recording) {}

  void all() const {
    for (const Place& place : recording_.places) require(place.file < recording_.files.size());
    for (const RecordedBlock& block : recording_.blocks) {
      require(block.launch < recording_.launches());
      stores(block.shared);
    }
    for (const RecordedWarp& warp : recording_.warps) {
      require(warp.block < recording_.blocks.size());
      values(warp.registers);
      places(warp.left_out);
    }
    for (const Step& step : recording_.steps) one(step);
    for (const Mark& mark : recording_.marks) {
      require(mark.step < recording_.steps.size() && mark.lane < kLanes);
      const Step& step = recording_.steps[mark.step];
      require(mark.access == kNone || mark.access < step.accesses.size());
      require(mark.access == kNone || (step.accesses[mark.access].lanes >> mark.lane & 1U) != 0);
    }
  }

 private:
  static bool fits(std::uint32_t lanes, std::size_t count) {
    return static_cast<std::size_t>(std::popcount(lanes)) == count;
  }
  template <typename T>
  static bool is_among(std::uint32_t number, const std::vector<T>& items) {
    return number == kNone || number < items.size();
  }

  void values(const std::vector<RegisterValues>& all) const {
    for (const RegisterValues& one : all) {
      require(one.type <= kLastValueType && fits(one.lanes, one.values.size()));
      require(one.updates.size() == one.first.size());
      require(one.updates.empty() || fits(one.lanes, one.updates.size()));
      require(is_among(one.name, recording_.names) && is_among(one.place, recording_.places));
    }
  }
  void places(const std::vector<LeftOut>& all) const {
    for (const LeftOut& one : all) require(is_among(one.place, recording_.places));
  }
  void stores(const std::vector<SharedBytes>& all) const {
    constexpr std::uint64_t kMostShared = 1u << 20;
    for (const SharedBytes& one : all) {
      require(one.first + std::uint64_t{one.bytes.size()} <= kMostShared);
      require(is_among(one.place, recording_.places));
    }
  }
  void one(const Step& step) const {
    require(step.warp < recording_.warps.size() && is_among(step.place, recording_.places));
    values(step.before);
    places(step.left_out);
    values(step.registers);
    stores(step.others);
    stores(step.shared);
    for (const Access& access : step.accesses) {
      require(access.space <= kLastSpace && access.action <= kLastAction);
      require(fits(access.lanes, access.addresses.size()));
      require(is_among(access.allocation, recording_.allocations));
    }
    for (const std::uint32_t name : step.unknown_now) require(name < recording_.names.size());
  }

  const Recording& recording_;
};

template <typename T>
T decode(std::span<const std::byte> bytes) {
  T value;
  Get get(bytes);
  get(value);
  get.expect_end();
  return value;
}

template <typename T>
std::vector<std::byte> encoded(const T& value) {
  Put put;
  put(value);
  return put.take();
}

}  // namespace

std::vector<std::byte> encode(const Wanted& wanted) { return encoded(wanted); }

std::vector<std::byte> encode(const Recorded& recorded) { return encoded(recorded); }

Wanted decode_wanted(std::span<const std::byte> bytes) {
  auto wanted = decode<Wanted>(bytes);
  require(wanted.kind <= kLastKind);
  return wanted;
}

Recorded decode_recorded(std::span<const std::byte> bytes) {
  if (bytes.size() > kMostRecordedBytes) throw wire::MessageError("a recording is too long");
  auto recorded = decode<Recorded>(bytes);
  if (recorded.recording) Check(*recorded.recording).all();
  return recorded;
}

}  // namespace simgpu

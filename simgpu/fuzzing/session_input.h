#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

/// What a fuzzed session is made of: a program to load, and choices.
namespace simgpu::fuzzing {

/// A kernel with a loop and global memory, one with shared memory and a barrier, one that recurs.
inline constexpr std::string_view kProgram = R"(.version 8.0
.target sm_75
.address_size 64
.global .b32 counter = 5;
.const .b32 limit = 7;
.func (.param .b32 result) deep(.param .b32 depth) {
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  ld.param.u32 %r1, [depth];
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra DONE;
  sub.u32 %r1, %r1, 1;
  { .param .b32 in; .param .b32 out;
    st.param.b32 [in], %r1;
    call (out), deep, (in);
    ld.param.b32 %r2, [out]; }
DONE:
  st.param.b32 [result], %r1;
  ret;
}
.visible .entry loop(.param .u64 data, .param .u32 turns) {
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [turns];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd3, %rd1, %rd2;
AGAIN:
  ld.global.u32 %r3, [%rd3];
  add.u32 %r3, %r3, 1;
  st.global.u32 [%rd3], %r3;
  sub.u32 %r1, %r1, 1;
  setp.gt.u32 %p1, %r1, 0;
  @%p1 bra AGAIN;
  ret;
}
.visible .entry meet(.param .u64 data) {
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  .shared .b32 tile[64];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd1, %r1, 4;
  mov.u64 %rd2, tile;
  add.u64 %rd2, %rd2, %rd1;
  st.shared.u32 [%rd2], %r1;
  bar.sync 0;
  ld.shared.u32 %r2, [tile];
  ld.param.u64 %rd3, [data];
  red.global.add.u32 [%rd3], %r2;
  ret;
}
.visible .entry recur(.param .u32 depth) {
  .reg .b32 %r<4>;
  ld.param.u32 %r1, [depth];
  { .param .b32 in; .param .b32 out;
    st.param.b32 [in], %r1;
    call (out), deep, (in);
    ld.param.b32 %r2, [out]; }
  ret;
}
)";

/// The input, taken from the front; zeros when it is used up.
class SessionChoices {
 public:
  explicit SessionChoices(std::span<const std::byte> bytes) : rest_(bytes) {}
  bool empty() const { return rest_.empty(); }
  template <typename T>
  T raw() {
    T value{};
    const std::size_t count = std::min(sizeof value, rest_.size());
    std::memcpy(&value, rest_.data(), count);
    rest_ = rest_.subspan(count);
    return value;
  }
  std::uint8_t byte() { return raw<std::uint8_t>(); }
  std::span<const std::byte> bytes(std::size_t count) {
    const auto taken = rest_.first(std::min(count, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }
  std::uint64_t of(const std::vector<std::uint64_t>& known) {
    return known.empty() ? 0 : known[byte() % known.size()];
  }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace simgpu::fuzzing

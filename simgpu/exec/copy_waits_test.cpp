#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "simgpu/exec/async_copies.h"
#include "simgpu/exec/engine_testing.h"

/// What waits at mbarriers leave under way.
namespace simgpu::testing {
namespace {

/// A warp copies twice, each copy arriving at one of two mbarriers, and waits at both in order.
std::string kernel_of(const std::string& first, const std::string& second) {
  const auto wait = [](const std::string& barrier) {
    return "W_" + barrier + ":\n  mbarrier.test_wait.parity.shared.b64 %p1, [" + barrier +
           "], 0;\n  @!%p1 bra W_" + barrier + ";\n";
  };
  const auto copy = [](const std::string& barrier) {
    return "  cp.async.ca.shared.global [%r2], [%rd1], 4;\n"
           "  cp.async.mbarrier.arrive.noinc.shared.b64 [" +
           barrier + "];\n";
  };
  return R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry copies(.param .u64 data)
{
  .shared .align 16 .b8 tile[128];
  .shared .align 8 .b64 early;
  .shared .align 8 .b64 late;
  .reg .pred %p<3>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, tile;
  mad.lo.u32 %r2, %r1, 4, %r2;
  setp.eq.u32 %p2, %r1, 0;
  @%p2 mbarrier.init.shared.b64 [early], 32;
  @%p2 mbarrier.init.shared.b64 [late], 32;
  bar.sync 0;
)" + copy(first) +
         copy(second) + wait("early") + wait("late") + "  ret;\n}\n";
}

/// Of both waits, in order: how often warps have waited, and how many groups that left.
std::vector<std::pair<std::uint64_t, std::uint64_t>> waits_of(const std::string& first,
                                                              const std::string& second) {
  Device device(kernel_of(first, second));
  Launch launch;
  launch.grid = {3, 1, 1};
  launch.block = {32, 1, 1};
  const std::uint64_t data = device.put(std::vector<std::uint32_t>(1));
  std::vector<std::pair<std::uint64_t, std::uint64_t>> waits;
  for (const LoadCounts& loads : device.run("copies", launch, data).loads) {
    const auto& at = loads.at_mbarriers;
    if (at.waits > 0) waits.emplace_back(at.waits, at.groups_left);
  }
  return waits;
}

TEST(CopyWaits, LeaveTheCopiesThatArriveElsewhereLater) {
  using Waits = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  EXPECT_EQ(waits_of("early", "late"), (Waits{{3, 3}, {3, 0}}));
  EXPECT_EQ(waits_of("late", "early"), (Waits{{3, 0}, {3, 3}}));
}

TEST(CopyWaits, LeaveNothingWhereCopiesArriveAtMoreMbarriersThanAreKept) {
  AsyncCopies copies;
  copies.arrive_at(0, 0);
  EXPECT_EQ(copies.groups_since_arrival(8), std::nullopt) << "nothing arrived there";
  for (std::uint32_t place = 8; place < 8 * 1000; place += 8) copies.arrive_at(place, 0);
  EXPECT_EQ(copies.groups_since_arrival(8 * 1000), 0U);
}

}  // namespace
}  // namespace simgpu::testing

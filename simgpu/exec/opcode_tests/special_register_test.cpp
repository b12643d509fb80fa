#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "simgpu/exec/opcode_tests/bench.h"

/// The special registers that tell threads, lanes and blocks apart.
namespace simgpu::opcode_tests::special_register_test {
namespace {

using Values = std::vector<std::uint64_t>;

constexpr std::uint32_t kAll = 0xFFFFFFFFu;

struct SpecialRegister {
  std::string name;
  std::function<std::uint64_t(const std::array<unsigned, 3>& thread,
                              const std::array<unsigned, 3>& block, unsigned lane, unsigned warp)>
      value;
};

TEST(SpecialRegisters, TellEachThreadItsPlace) {
  constexpr std::array<unsigned, 3> kBlock{5, 4, 3};  // 60 threads: the second warp is partial
  constexpr std::array<unsigned, 3> kGrid{2, 3, 4};
  using Place = std::array<unsigned, 3>;
  std::vector<SpecialRegister> registers;
  for (unsigned axis = 0; axis < 3; ++axis) {
    const std::string name(1, "xyz"[axis]);
    registers.push_back({"%tid." + name, [=](const Place& t, const Place&, unsigned, unsigned) {
                           return t[axis];
                         }});
    registers.push_back({"%ctaid." + name, [=](const Place&, const Place& b, unsigned, unsigned) {
                           return b[axis];
                         }});
    registers.push_back({"%ntid." + name, [=](const Place&, const Place&, unsigned, unsigned) {
                           return kBlock[axis];
                         }});
    registers.push_back({"%nctaid." + name, [=](const Place&, const Place&, unsigned, unsigned) {
                           return kGrid[axis];
                         }});
  }
  const auto by_lane = [&](const std::string& name, auto value) {
    registers.push_back({name, [=](const Place&, const Place&, unsigned lane, unsigned warp) {
                           return static_cast<std::uint64_t>(value(lane, warp));
                         }});
  };
  const auto mask = [](auto belongs) {
    return [=](unsigned lane, unsigned) {
      std::uint32_t bits = 0;
      for (unsigned other = 0; other < 32; ++other) bits |= belongs(other, lane) ? 1u << other : 0u;
      return bits;
    };
  };
  by_lane("%laneid", [](unsigned lane, unsigned) { return lane; });
  by_lane("%warpid", [](unsigned, unsigned warp) { return warp; });
  by_lane("%nwarpid", [](unsigned, unsigned) { return 64u; });
  by_lane("%lanemask_eq", mask([](unsigned other, unsigned lane) { return other == lane; }));
  by_lane("%lanemask_lt", mask([](unsigned other, unsigned lane) { return other < lane; }));
  by_lane("%lanemask_le", mask([](unsigned other, unsigned lane) { return other <= lane; }));
  by_lane("%lanemask_gt", mask([](unsigned other, unsigned lane) { return other > lane; }));
  by_lane("%lanemask_ge", mask([](unsigned other, unsigned lane) { return other >= lane; }));

  std::string body =  // p0 + 8 * registers * (thread in block + 60 * block in grid)
      "  mov.u32 %r0, %tid.z;\n  mov.u32 %r1, %tid.y;\n  mad.lo.u32 %r0, %r0, 4, %r1;\n"
      "  mov.u32 %r1, %tid.x;\n  mad.lo.u32 %r0, %r0, 5, %r1;\n"
      "  mov.u32 %r2, %ctaid.z;\n  mov.u32 %r1, %ctaid.y;\n  mad.lo.u32 %r2, %r2, 3, %r1;\n"
      "  mov.u32 %r1, %ctaid.x;\n  mad.lo.u32 %r2, %r2, 2, %r1;\n"
      "  mad.lo.u32 %r0, %r2, 60, %r0;\n  mul.wide.u32 %i8, %r0, 8;\n";
  for (unsigned i = 0; i < registers.size(); ++i) {
    body += "  mov.u32 %r4, " + registers[i].name + ";\n" +
            give("r4", "p0", i, static_cast<unsigned>(registers.size()));
  }
  testing::Device device(bench_module(bench_kernel("place", body)));
  const std::size_t count = registers.size() * 60 * 24;
  const std::uint64_t out = device.put(Values(count));
  testing::Launch launch;
  launch.grid = {kGrid[0], kGrid[1], kGrid[2]};
  launch.block = {kBlock[0], kBlock[1], kBlock[2]};
  launch.workers = 2;
  ASSERT_EQ(trouble(device.run("place", launch, out, out, out, out, out, std::uint64_t{kAll})), "");
  const Values found = device.get<std::uint64_t>(out, count);
  for (unsigned block = 0; block < 24; ++block) {
    for (unsigned thread = 0; thread < 60; ++thread) {
      const Place t{thread % 5, thread / 5 % 4, thread / 20};
      const Place b{block % 2, block / 2 % 3, block / 6};
      for (std::size_t i = 0; i < registers.size(); ++i) {
        ASSERT_EQ(found[(block * 60 + thread) * registers.size() + i],
                  registers[i].value(t, b, thread % 32, thread / 32))
            << registers[i].name << " of thread " << thread << " in block " << block;
      }
    }
  }
}

TEST(SpecialRegisters, WithoutAValueAreRefusedForWhatTheyMean) {
  const std::vector<std::pair<std::string, std::string>> registers{
      {"%envreg3", "grid synchronisation"},   {"%reserved_smem_offset_0", "shared memory"},
      {"%pm0", "performance counters"},       {"%aggr_smem_size", "shared memory"},
      {"%current_graph_exec", "CUDA graphs"}, {"%nobody_knows", "%nobody_knows"}};
  for (const auto& [name, meaning] : registers) {
    const testing::Device device(
        bench_module(bench_kernel("refused", "  mov.u32 %r0, " + name + ";\n")));
    const std::string refusal = refusal_of(device, "refused");
    EXPECT_TRUE(refusal.starts_with("special register " + name)) << refusal;
    EXPECT_NE(refusal.find(meaning), std::string::npos) << refusal;
    EXPECT_NE(refusal.find("PTX line"), std::string::npos) << refusal;
  }
}

}  // namespace
}  // namespace simgpu::opcode_tests::special_register_test

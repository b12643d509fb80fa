// Of what the toolkit's own ptxas makes, for each architecture.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <string_view>

#include "simgpu/machine_code/assembler.h"
#include "simgpu/sass/alignment.h"

namespace simgpu::sass {
namespace {

using ::testing::IsEmpty;

/// Each thread multiplies and adds in a loop, which ptxas unrolls, and stores its sum. Threads of
/// the upper half store it once more.
constexpr std::string_view kPtx = R"(.version 7.0
.target sm_75
.address_size 64
.visible .entry sums(.param .u64 p, .param .u32 turns) {
.reg .pred %p<3>;
.reg .f32 %f<3>;
.reg .b32 %r<4>;
.reg .b64 %rd<4>;
ld.param.u64 %rd1, [p];
ld.param.u32 %r1, [turns];
mov.u32 %r2, %tid.x;
mul.wide.u32 %rd2, %r2, 4;
add.s64 %rd3, %rd1, %rd2;
mov.f32 %f1, 0f00000000;
mov.u32 %r3, 0;
loop:
ld.volatile.global.f32 %f2, [%rd3];
fma.rn.f32 %f1, %f1, %f2, %f2;
add.u32 %r3, %r3, 1;
setp.lt.u32 %p1, %r3, %r1;
@%p1 bra loop;
st.volatile.global.f32 [%rd3], %f1;
setp.lt.u32 %p2, %r2, 32;
@%p2 bra done;
st.volatile.global.f32 [%rd3+1024], %f1;
bar.sync 0;
done:
ret;
}
)";

std::uint32_t line_of(std::string_view what) {
  std::istringstream text{std::string(kPtx)};
  std::string line;
  for (std::uint32_t number = 1; std::getline(text, line); ++number) {
    if (line.starts_with(what)) return number;
  }
  return 0;
}

/// Of 64 threads that go round the loop 40 times.
PtxCounts counts_of_forty_turns() {
  PtxCounts counts;
  counts.threads = 64;
  const auto add = [&](std::string_view what, InstructionClass cls, double threads) {
    counts.lines[line_of(what)] = {.threads = threads,
                                   .block_threads = threads,
                                   .block_warps = threads / 32,
                                   .cls = cls,
                                   .is_guarded = false,
                                   .is_sequence = false,
                                   .access_bytes = 4};
  };
  add("ld.volatile", InstructionClass::global_load, 64 * 40);
  add("fma", InstructionClass::fp32, 64 * 40);
  add("st.volatile.global.f32 [%rd3],", InstructionClass::global_store, 64);
  add("st.volatile.global.f32 [%rd3+1024]", InstructionClass::global_store, 32);
  add("bar.sync", InstructionClass::barrier, 32);
  return counts;
}

class Ptxas : public ::testing::TestWithParam<unsigned> {
 protected:
  KernelCode code() const {
    const machine_code::Assembler assembler({.command = {ROOFLAB_CUDA_ROOT "/bin/ptxas"}});
    const machine_code::Assembled assembled =
        assembler.assemble(kPtx, fmt::format("sm_{}", GetParam()), false);
    EXPECT_THAT(assembled.why, IsEmpty());
    return read_code(assembled.cubin, GetParam()).at("sums");
  }
};

TEST_P(Ptxas, MakesCodeThatIsUnderstood) {
  const KernelCode kernel = code();
  EXPECT_THAT(kernel.why_not, IsEmpty());
  const auto is_store = [](const Instruction& one) { return one.name == "STG"; };
  const auto store = std::ranges::find_if(kernel.instructions, is_store);
  ASSERT_NE(store, kernel.instructions.end());
  EXPECT_EQ(store->ptx_line, line_of("st.volatile.global.f32 [%rd3],"));
  EXPECT_EQ(store->access_bytes, 4U);
  EXPECT_GE(find_loops(basic_blocks(kernel)).size(), 1U);
}

TEST_P(Ptxas, MakesCodeThatIsAlignedWithItsPtx) {
  const KernelCode kernel = code();
  const std::vector<BasicBlock> blocks = basic_blocks(kernel);
  const Alignment alignment = align(kernel, blocks, counts_of_forty_turns());
  EXPECT_THAT(alignment.why_not, IsEmpty());
  ASSERT_EQ(alignment.blocks.size(), blocks.size());
  // By what they execute, but for the first turn, which ptxas puts before the loop under a
  // predicate that does not hold for an even number of them.
  std::map<std::string_view, double> threads;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (std::uint32_t at = blocks[i].first; at < blocks[i].last; ++at) {
      const Instruction& instruction = kernel.instructions[at];
      if (instruction.predicate.is_always())
        threads[instruction.name] += alignment.blocks[i].threads;
    }
  }
  EXPECT_NEAR(threads["FFMA"], 64 * 40, 0.01);
  EXPECT_NEAR(threads["LDG"], 64 * 40, 0.01);
  EXPECT_NEAR(threads["BAR"], 32, 0.01);
}

/// Each thread stores in one of five ways, the first two of which go on to a sixth store.
constexpr std::string_view kSwitch = R"(.version 7.0
.target sm_75
.address_size 64
.visible .entry ways(.param .u64 p) {
.reg .b32 %r<3>;
.reg .b64 %rd<4>;
ld.param.u64 %rd1, [p];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd3, %rd1, %rd2;
and.b32 %r2, %r1, 3;
ways: .branchtargets a, b, c, d;
brx.idx %r2, ways;
a: st.volatile.global.u32 [%rd3], 11;
b: st.volatile.global.u32 [%rd3+128], 12;
bra done;
c: st.volatile.global.u32 [%rd3+256], 13;
bra done;
d: st.volatile.global.u32 [%rd3+512], 14;
done:
st.volatile.global.u32 [%rd3+1024], 15;
ret;
}
)";

TEST_P(Ptxas, MakesTablesOfJumpsThatAreFollowed) {
  const machine_code::Assembler assembler({.command = {ROOFLAB_CUDA_ROOT "/bin/ptxas"}});
  const machine_code::Assembled assembled =
      assembler.assemble(kSwitch, fmt::format("sm_{}", GetParam()), false);
  ASSERT_THAT(assembled.why, IsEmpty());
  const KernelCode kernel = read_code(assembled.cubin, GetParam()).at("ways");
  const bool jumps = std::ranges::any_of(
      kernel.instructions, [](const Instruction& one) { return one.flow == Flow::indirect; });
  EXPECT_EQ(kernel.jump_tables.size(), jumps ? 1U : 0U);
  PtxCounts counts;
  counts.threads = 64;
  constexpr std::uint32_t kFirst = 14;  // line of the first store
  const std::map<std::uint32_t, double> stores{{14, 16}, {15, 32}, {17, 16}, {19, 16}, {21, 64}};
  for (const auto& [line, threads] : stores) {
    counts.lines[line] = {.threads = threads,
                          .block_threads = threads,
                          .block_warps = 2,
                          .cls = InstructionClass::global_store,
                          .is_guarded = false,
                          .is_sequence = false,
                          .access_bytes = 4};
  }
  const std::vector<BasicBlock> blocks = basic_blocks(kernel);
  const Alignment alignment = align(kernel, blocks, counts);
  EXPECT_THAT(alignment.why_not, IsEmpty());
  ASSERT_EQ(alignment.blocks.size(), blocks.size());
  std::map<std::uint32_t, double> found;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (std::uint32_t at = blocks[i].first; at < blocks[i].last; ++at) {
      const Instruction& instruction = kernel.instructions[at];
      if (instruction.name == "STG" && instruction.ptx_line >= kFirst)
        found[instruction.ptx_line] += alignment.blocks[i].threads;
    }
  }
  EXPECT_EQ(found.size(), stores.size());
  for (const auto& [line, threads] : stores) EXPECT_NEAR(found[line], threads, 0.01) << line;
}

/// Threads go round a loop as often as memory says, and shuffle three times in each turn: ptxas,
/// which does not know whether they do so together, makes a second copy of each shuffle for where
/// they do not.
constexpr std::string_view kShuffles = R"(.version 7.0
.target sm_75
.address_size 64
.visible .entry totals(.param .u64 p) {
.reg .pred %p<3>;
.reg .b32 %r<6>;
.reg .f32 %f<4>;
.reg .b64 %rd<4>;
ld.param.u64 %rd1, [p];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd3, %rd1, %rd2;
ld.volatile.global.u32 %r2, [%rd3];
mov.f32 %f1, 0f3F800000;
mov.u32 %r3, 0;
turn:
mov.b32 %r4, %f1;
shfl.sync.bfly.b32 %r5, %r4, 16, 31, -1;
mov.b32 %f2, %r5;
fma.rn.f32 %f1, %f1, %f2, %f2;
mov.b32 %r4, %f1;
shfl.sync.bfly.b32 %r5, %r4, 8, 31, -1;
mov.b32 %f2, %r5;
fma.rn.f32 %f1, %f1, %f2, %f2;
mov.b32 %r4, %f1;
shfl.sync.bfly.b32 %r5, %r4, 4, 31, -1;
mov.b32 %f2, %r5;
fma.rn.f32 %f1, %f1, %f2, %f2;
st.volatile.global.f32 [%rd3+1024], %f1;
add.u32 %r3, %r3, 1;
setp.lt.u32 %p1, %r3, %r2;
@%p1 bra turn;
ret;
}
)";

TEST_P(Ptxas, MakesCopiesForPartedLanesThatAreNoFurtherTurns) {
  const machine_code::Assembler assembler({.command = {ROOFLAB_CUDA_ROOT "/bin/ptxas"}});
  const machine_code::Assembled assembled =
      assembler.assemble(kShuffles, fmt::format("sm_{}", GetParam()), false);
  ASSERT_THAT(assembled.why, IsEmpty());
  const KernelCode kernel = read_code(assembled.cubin, GetParam()).at("totals");
  constexpr std::uint32_t kStore = 29;  // its line
  PtxCounts counts;
  counts.threads = 64;
  const auto add = [&](std::uint32_t line, InstructionClass cls) {
    counts.lines[line] = {.threads = 64 * 40,
                          .block_threads = 64 * 40,
                          .block_warps = 2 * 40,
                          .cls = cls,
                          .is_guarded = false,
                          .is_sequence = false,
                          .access_bytes = 4,
                          .loop = {.number = 1, .entries = 64, .turns = 40}};
  };
  for (const std::uint32_t shuffle : {18, 22, 26}) {
    add(shuffle, InstructionClass::warp_exchange);
    add(shuffle + 2, InstructionClass::fp32);
  }
  add(kStore, InstructionClass::global_store);
  const std::vector<BasicBlock> blocks = basic_blocks(kernel);
  const Alignment alignment = align(kernel, blocks, counts);
  EXPECT_THAT(alignment.why_not, IsEmpty());
  ASSERT_EQ(alignment.blocks.size(), blocks.size());
  double stores = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (std::uint32_t at = blocks[i].first; at < blocks[i].last; ++at) {
      if (kernel.instructions[at].name == "STG") stores += alignment.blocks[i].threads;
    }
  }
  EXPECT_NEAR(stores, 64 * 40, 0.01);
}

INSTANTIATE_TEST_SUITE_P(Architectures, Ptxas,
                         ::testing::Values(75U, 80U, 86U, 89U, 90U, 100U, 120U));

}  // namespace
}  // namespace simgpu::sass

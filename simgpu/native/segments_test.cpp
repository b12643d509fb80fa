#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "simgpu/exec/engine_testing.h"
#include "simgpu/lower/lowered.h"
#include "simgpu/native/native_kernels.h"
#include "simgpu/native/translator.h"

/// What a segment of native code does with guards and with shared memory in all its shapes, held
/// against the interpreter: memory, counters, and what a failing launch leaves.
namespace simgpu::native {
namespace {

using simgpu::testing::MemoryImage;

constexpr const char* kKernels = R"(.version 8.0
.target sm_80
.address_size 64
// Lanes whose guard is false have addresses far out of bounds, or misaligned ones.
.visible .entry guards(.param .u64 data)
{
  .reg .b32 %r<20>; .reg .f32 %f<8>; .reg .b64 %d<6>; .reg .pred %p<6>; .reg .b64 %l<4>;
  .shared .align 16 .b8 tile[4096];
  ld.param.u64 %d0, [data];
  mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.s64 %d2, %d0, %d1;
  ld.global.u32 %r1, [%d2];
  mov.u32 %r2, tile; shl.b32 %r3, %r0, 2; add.s32 %r4, %r2, %r3;
  and.b32 %r5, %r1, 3;
  setp.eq.s32 %p0, %r5, 0; setp.lt.s32 %p1, %r0, 4096; setp.gt.s32 %p2, %r0, 4096;
  st.shared.u32 [%r4], %r1;
  mad.lo.s32 %r6, %r5, 1000003, %r4;
  mov.u32 %r7, 17;
  @%p1 ld.shared.u32 %r8, [%r4];
  @%p2 ld.shared.u32 %r8, [%r4+100000];
  @%p0 ld.shared.u32 %r7, [%r6];
  add.s32 %r9, %r7, %r8;
  @!%p0 xor.b32 %r9, %r9, 0x55;
  @%p0 st.shared.u32 [%r6+1024], %r9;
  @%p2 add.s32 %r9, %r9, 1;
  @%p0 setp.gt.u32 %p3, %r9, 40;
  @%p0 not.pred %p1, %p1;
  selp.b32 %r10, %r9, %r8, %p1;
  cvt.u64.u32 %l0, %r10;
  @%p0 mul.lo.u64 %l0, %l0, 1000000007;
  cvt.u32.u64 %r11, %l0;
  st.shared.u32 [%r4+1024], %r11;
  bar.sync 0;
  ld.shared.u32 %r12, [%r4+1024];
  xor.b32 %r12, %r12, %r10;
  st.global.u32 [%d2], %r12;
  ret;
}
// Elements of all sizes, in rows, in one place, and all over; a base that moves on in between.
.visible .entry shapes(.param .u64 data)
{
  .reg .b32 %r<40>; .reg .b16 %h<8>; .reg .b64 %d<6>; .reg .b64 %l<8>;
  .shared .align 16 .b8 tile[8192];
  ld.param.u64 %d0, [data];
  mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.s64 %d2, %d0, %d1;
  ld.global.u32 %r1, [%d2];
  mov.u32 %r2, tile; shl.b32 %r3, %r0, 4; add.s32 %r4, %r2, %r3;
  shl.b32 %r5, %r0, 3; add.s32 %r6, %r2, %r5;
  add.s32 %r7, %r1, 1; add.s32 %r8, %r1, 2; add.s32 %r9, %r1, 3;
  st.shared.v4.u32 [%r4], {%r1, %r7, %r8, %r9};
  st.shared.v2.u32 [%r6+4096], {%r9, %r8};
  cvt.u64.u32 %l0, %r7; st.shared.u64 [%r6+6144], %l0;
  bar.sync 0;
  ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r4];
  ld.shared.v2.u32 {%r14, %r15}, [%r6+4096];
  ld.shared.u64 %l1, [%r6+6144];
  ld.shared.v4.u32 {%r16, %r17, %r18, %r19}, [%r2+32];
  and.b32 %r20, %r1, 0x1fc; add.s32 %r20, %r20, %r2;
  ld.shared.u32 %r21, [%r20];
  add.s32 %r20, %r20, 4;
  ld.shared.u32 %r22, [%r20];
  ld.shared.u32 %r23, [%r20+-4];
  shl.b32 %r24, %r0, 1; add.s32 %r24, %r24, %r2;
  ld.shared.u16 %h0, [%r24]; ld.shared.s8 %r25, [%r24+3];
  cvt.u32.u16 %r26, %h0; cvt.u16.u32 %h1, %r22;
  bar.sync 0;
  st.shared.u16 [%r24], %h1; st.shared.u8 [%r24+600], %r23;
  st.shared.u32 [%r20+1024], %r1;
  bar.sync 0;
  ld.shared.u32 %r27, [%r20+1024]; ld.shared.u32 %r28, [%r4+512];
  cvt.u32.u64 %r29, %l1;
  add.s32 %r30, %r10, %r11; xor.b32 %r30, %r30, %r12; add.s32 %r30, %r30, %r13;
  xor.b32 %r30, %r30, %r14; add.s32 %r30, %r30, %r15; xor.b32 %r30, %r30, %r29;
  add.s32 %r30, %r30, %r16; xor.b32 %r30, %r30, %r19; add.s32 %r30, %r30, %r21;
  xor.b32 %r30, %r30, %r22; add.s32 %r30, %r30, %r23; xor.b32 %r30, %r30, %r25;
  add.s32 %r30, %r30, %r26; xor.b32 %r30, %r30, %r27; add.s32 %r30, %r30, %r28;
  st.global.u32 [%d2], %r30;
  ret;
}
// The third access is out of bounds, or misaligned, from one warp on.
.visible .entry fails(.param .u64 data, .param .u32 step)
{
  .reg .b32 %r<12>; .reg .b64 %d<2>;
  .shared .align 4 .b8 tile[1024];
  ld.param.u64 %d0, [data]; ld.param.u32 %r9, [step];
  mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2;
  mov.u32 %r2, tile; add.s32 %r3, %r2, %r1;
  shr.u32 %r4, %r0, 5; mul.lo.s32 %r5, %r4, %r9;
  st.shared.u32 [%r3], %r0;
  ld.shared.u32 %r6, [%r3];
  add.s32 %r7, %r3, %r5;
  ld.shared.u32 %r8, [%r7];
  ld.shared.u32 %r10, [%r7+4];
  add.s32 %r8, %r8, %r6;
  st.global.u32 [%d0], %r8;
  ret;
}
)";

class Segments : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kThreads = 128;

  static void SetUpTestSuite() {
    cache_ = std::filesystem::path(::testing::TempDir()) / ("segments_" + std::to_string(getpid()));
    kernels_ = std::make_unique<NativeKernels>(NativeOptions{.cache = cache_, .waits = true});
    program_ = lower(ptx::parse(kKernels), {});
    if (!kernels_->has_compiler()) return;
    ASSERT_TRUE(kernels_->compile_all(*program_));
  }
  static void TearDownTestSuite() {
    kernels_.reset();
    program_.reset();
    std::filesystem::remove_all(cache_);
  }

  Segments() : memory_(1 << 20), data_(memory_.allocate(4 * kThreads, "data").value()) {}

  LaunchResult run(const char* kernel, NativeKernels* native,
                   std::span<const std::byte> parameters) {
    std::vector<std::uint32_t> values(kThreads);
    std::iota(values.begin(), values.end(), 1);
    for (std::uint32_t& value : values) value = value * 2654435761U >> 7;
    // The guards of one warp are all true.
    for (std::uint32_t i = 64; i < 96; ++i) values[i] &= ~3U;
    memory_.write(data_, std::as_bytes(std::span(values)));
    LaunchRequest request;
    request.kernel = kernel;
    request.grid = {1, 1, 1};
    request.block = {kThreads, 1, 1};
    request.parameters = parameters;
    gpu_spec::GpuSpec gpu;
    gpu.sm_count = 8;
    gpu.clock_mhz = 1000;
    gpu.l2_bytes = 1 << 20;
    EngineOptions options;
    options.checkers = false;
    options.native = native;
    return execute(*program_, request, memory_, gpu, options);
  }

  LaunchResult expect_same(const char* kernel, std::span<const std::byte> parameters) {
    const LaunchResult interpreted = run(kernel, nullptr, parameters);
    const MemoryImage expected(memory_);
    simgpu::testing::expect_same(run(kernel, kernels_.get(), parameters), interpreted);
    EXPECT_TRUE(MemoryImage(memory_) == expected) << kernel;
    EXPECT_NE(program_->kernels.at(kernel).native->code, nullptr);
    return interpreted;
  }

  std::vector<std::byte> parameters(std::uint32_t bytes, std::uint32_t second = 0) const {
    std::vector<std::byte> all(bytes);
    std::memcpy(all.data(), &data_, 8);
    if (bytes > 8) std::memcpy(all.data() + 8, &second, 4);
    return all;
  }

  static inline std::filesystem::path cache_;
  static inline std::unique_ptr<NativeKernels> kernels_;
  static inline std::shared_ptr<const Program> program_;
  DeviceMemory memory_;
  std::uint64_t data_;
};

TEST_F(Segments, DoGuardedInstructionsForTheLanesOfTheirGuards) {
  if (!kernels_->has_compiler()) GTEST_SKIP() << "no g++";
  EXPECT_EQ(expect_same("guards", parameters(8)).status, LaunchStatus::ok);
}

TEST_F(Segments, MoveElementsOfAllSizesAndShapes) {
  if (!kernels_->has_compiler()) GTEST_SKIP() << "no g++";
  EXPECT_EQ(expect_same("shapes", parameters(8)).status, LaunchStatus::ok);
}

TEST_F(Segments, LeaveAccessesThatFailToTheInterpreter) {
  if (!kernels_->has_compiler()) GTEST_SKIP() << "no g++";
  EXPECT_EQ(expect_same("fails", parameters(12, 0)).status, LaunchStatus::ok);
  EXPECT_EQ(expect_same("fails", parameters(12, 2)).status, LaunchStatus::misaligned_address);
  EXPECT_EQ(expect_same("fails", parameters(12, 800)).status, LaunchStatus::illegal_address);
  EXPECT_EQ(expect_same("fails", parameters(12, static_cast<std::uint32_t>(-128))).status,
            LaunchStatus::ok);
}

/// Each guarded load may end its segment, and hand over all that was written before it.
TEST(SegmentText, GrowsNoFasterThanItsKernel) {
  constexpr int kLoads = 3000;
  std::string body, sums;
  for (int i = 0; i < kLoads; ++i) {
    const std::string x = "%x" + std::to_string(i), y = "%y" + std::to_string(i);
    body += "add.s32 " + x + ", %r0, " + std::to_string(4 * (i % 8)) + ";\n@%p0 ld.shared.u32 " +
            y + ", [" + x + "];\n";
    sums += "add.s32 %r1, %r1, " + y + "; add.s32 %r1, %r1, " + x + ";\n";
  }
  const std::string count = std::to_string(kLoads);
  const auto program = lower(
      ptx::parse(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n"
                 ".reg .b32 %r<2>, %x<" +
                 count + ">, %y<" + count +
                 ">;\n.reg .pred %p<1>;\n.shared .align 4 .b8 tile[4096];\nmov.u32 %r0, tile;\n"
                 "mov.u32 %r1, %tid.x;\nsetp.gt.u32 %p0, %r1, 5;\n" +
                 body + sums + "st.shared.u32 [%r0], %r1;\nret;\n}\n"),
      {});
  const LoweredKernel* const only[] = {&program->kernels.at("k")};
  const Translation translation = translate(only);
  EXPECT_GT(translation.functions, 100U);
  EXPECT_LT(translation.text.size(), std::size_t{8} << 20);
}

}  // namespace
}  // namespace simgpu::native

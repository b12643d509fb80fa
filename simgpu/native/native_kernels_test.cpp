#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "simgpu/exec/engine_testing.h"
#include "simgpu/lower/lowered.h"
#include "simgpu/native/forms.h"
#include "simgpu/native/native_kernels.h"
#include "simgpu/native/translator.h"

/// Native code as a whole: what is translated, when it is asked for, and that it does what the
/// interpreter does. The kernels of all other tests are held against it with SIMGPU_TEST_NATIVE.
namespace simgpu::native {
namespace {

using simgpu::testing::MemoryImage;
using ::testing::HasSubstr;
using ::testing::Not;

/// A guarded sum, a comparison joined with a predicate, shared memory that is read in order, in one
/// place and all over, in a loop; %student_secret is a name that a student chose.
constexpr const char* kKernel = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry student_secret(.param .u64 in, .param .u64 out, .param .u32 turns)
{
  .reg .b32 %r<16>; .reg .f32 %f<8>; .reg .b64 %d<8>; .reg .pred %p<4>;
  .shared .align 4 .b8 tile[512];
  ld.param.u64 %d0, [in]; ld.param.u64 %d1, [out]; ld.param.u32 %r8, [turns];
  mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;
  mad.lo.s32 %r3, %r1, %r2, %r0;
  mul.wide.s32 %d2, %r3, 4;
  add.s64 %d3, %d0, %d2; add.s64 %d4, %d1, %d2;
  ld.global.f32 %f0, [%d3];
  mov.u32 %r4, tile; shl.b32 %r5, %r0, 2; add.s32 %r6, %r4, %r5;
  mul.lo.s32 %r9, %r0, 28; and.b32 %r9, %r9, 508; add.s32 %r9, %r9, %r4;
  mov.u32 %r7, 0;
loop:
  st.shared.f32 [%r6], %f0;
  bar.sync 0;
  ld.shared.f32 %f1, [%r4+8];
  ld.shared.f32 %f2, [%r6];
  ld.shared.f32 %f3, [%r9];
  bar.sync 0;
  fma.rn.f32 %f0, %f1, %f2, %f3;
  setp.lt.s32 %p0, %r0, 20;
  setp.gt.and.f32 %p1|%p2, %f0, 0f41000000, %p0;
  @%p1 mul.rn.f32 %f0, %f0, 0f3F000000;
  @!%p0 add.rn.f32 %f0, %f0, 0fBF800000;
  selp.f32 %f0, %f0, %f2, %p2;
  add.s32 %r7, %r7, 1;
  setp.lt.u32 %p3, %r7, %r8;
  @%p3 bra loop;
  st.global.f32 [%d4], %f0;
  ret;
}
)";

class NativeCode : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kThreads = 128, kBlocks = 40;

  NativeCode() : program_(lower(ptx::parse(kKernel), {})), memory_(1 << 20) {
    std::filesystem::remove_all(options_.cache);
    std::vector<float> values(kThreads * kBlocks);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(i * 37 % 101) / 16.0f - 2;
    }
    const std::uint64_t in = memory_.allocate(values.size() * 4, "in").value();
    const std::uint64_t out = memory_.allocate(values.size() * 4, "out").value();
    memory_.write(in, std::as_bytes(std::span(values)));
    std::memcpy(parameters_.data(), &in, 8);
    std::memcpy(parameters_.data() + 8, &out, 8);
    gpu_.sm_count = 8;
    gpu_.clock_mhz = 1000;
    gpu_.l2_bytes = 1 << 20;
  }
  ~NativeCode() override { std::filesystem::remove_all(options_.cache); }

  const LoweredKernel& kernel() const { return program_->kernels.at("student_secret"); }

  LaunchResult run(NativeKernels* native, std::uint32_t turns, unsigned workers = 1,
                   bool checkers = false, std::uint64_t budget = 1'000'000'000) {
    std::memcpy(parameters_.data() + 16, &turns, 4);
    LaunchRequest request;
    request.kernel = "student_secret";
    request.grid = {kBlocks, 1, 1};
    request.block = {kThreads, 1, 1};
    request.parameters = parameters_;
    request.resident_blocks = 8;
    request.l1_bytes_per_block = 32 << 10;
    EngineOptions options;
    options.workers = workers;
    options.checkers = checkers;
    options.instruction_budget = budget;
    options.native = native;
    return execute(*program_, request, memory_, gpu_, options);
  }

  NativeOptions waiting() const {
    NativeOptions options = options_;
    options.waits = true;
    return options;
  }

  NativeOptions options_{.cache = std::filesystem::path(::testing::TempDir()) /
                                  ("native_" + std::to_string(::getpid())) / "cache"};
  std::shared_ptr<const Program> program_;
  DeviceMemory memory_;
  gpu_spec::GpuSpec gpu_;
  std::array<std::byte, 20> parameters_{};
};

TEST_F(NativeCode, HoldsNothingThatAStudentWrote) {
  const LoweredKernel* const only[] = {&kernel()};
  const Translation translation = translate(only);
  EXPECT_GT(translation.functions, 0U);
  EXPECT_THAT(translation.text, HasSubstr("fma_f32"));
  EXPECT_THAT(translation.text, Not(HasSubstr("student")));
  EXPECT_THAT(translation.text, Not(HasSubstr("tile[")));
}

TEST_F(NativeCode, DoesWhatTheInterpreterDoes) {
  NativeKernels kernels(waiting());
  if (!kernels.has_compiler()) GTEST_SKIP() << "no g++";
  for (const unsigned workers : {1U, 3U}) {
    const LaunchResult interpreted = run(nullptr, 50, workers);
    const MemoryImage expected(memory_);
    const LaunchResult native = run(&kernels, 50, workers);
    ASSERT_NE(kernel().native->code, nullptr);
    simgpu::testing::expect_same(native, interpreted);
    EXPECT_TRUE(MemoryImage(memory_) == expected);
  }
}

TEST_F(NativeCode, IsNotUsedWhereCheckersWatch) {
  NativeKernels kernels(waiting());
  run(&kernels, 3, 1, true);
  EXPECT_EQ(kernel().native->step.load(), KernelState::Step::untouched);
}

TEST_F(NativeCode, FailsWhereTheInterpreterFails) {
  NativeKernels kernels(waiting());
  if (!kernels.has_compiler()) GTEST_SKIP() << "no g++";
  const LaunchResult interpreted = run(nullptr, 1'000'000, 1, false, 100'000);
  EXPECT_EQ(interpreted.status, LaunchStatus::launch_timeout);
  simgpu::testing::expect_same(run(&kernels, 1'000'000, 1, false, 100'000), interpreted);
}

TEST_F(NativeCode, TakesOverInTheMiddleOfALaunch) {
  options_.worth_looking = options_.worth_compiling = 1000;
  NativeKernels kernels(options_);
  if (!kernels.has_compiler()) GTEST_SKIP() << "no g++";
  const LaunchResult interpreted = run(nullptr, 20);
  const MemoryImage expected(memory_);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  do {
    simgpu::testing::expect_same(run(&kernels, 20, 2), interpreted);
    EXPECT_TRUE(MemoryImage(memory_) == expected);
  } while (kernel().native->code == nullptr && std::chrono::steady_clock::now() < deadline);
  EXPECT_NE(kernel().native->code, nullptr) << "never compiled";
}

TEST_F(NativeCode, IsNotAskedForWhereItIsNotWorthIt) {
  NativeKernels kernels(options_);
  run(&kernels, 20);
  EXPECT_EQ(kernel().native->step.load(), KernelState::Step::untouched);
  EXPECT_FALSE(std::filesystem::exists(options_.cache));
}

TEST_F(NativeCode, IsOnlyLookedForWhereCompilingIsNotWorthIt) {
  options_.worth_looking = 1000;
  options_.waits = true;
  NativeKernels kernels(options_);
  if (!kernels.has_compiler()) GTEST_SKIP() << "no g++";
  kernels.ask(kernel(), 2000);
  EXPECT_EQ(kernel().native->step.load(), KernelState::Step::not_kept);
  kernels.ask(kernel(), options_.worth_compiling);
  EXPECT_EQ(kernel().native->step.load(), KernelState::Step::ready);

  const auto again = lower(ptx::parse(kKernel), {});
  NativeKernels later(options_);
  later.ask(again->kernels.at("student_secret"), 2000);
  EXPECT_EQ(again->kernels.at("student_secret").native->step.load(), KernelState::Step::ready);
}

TEST_F(NativeCode, LeavesAllToTheInterpreterWhereThereIsNoCompiler) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nonexistent", 1);
  NativeKernels kernels(waiting());
  const bool found = kernels.has_compiler();
  const LaunchResult result = run(&kernels, 3);
  setenv("PATH", path.c_str(), 1);
  EXPECT_FALSE(found);
  EXPECT_EQ(result.status, LaunchStatus::ok);
  EXPECT_EQ(kernel().native->step.load(), KernelState::Step::none);
}

TEST(HandlerForms, AreThoseOfFunctionsThatVectorsAreComputedWith) {
  const auto name = [](const char* function) {
    return function_in(std::string("text [with auto F = ") + function + "; other = x]");
  };
  EXPECT_EQ(name("simgpu::arith::add<int>"), "simgpu::arith::add<int>");
  EXPECT_EQ(name("simgpu::{anonymous}::add<int>"), "");
  EXPECT_EQ(name("<lambda closure object>simgpu::f()::<lambda(int)>()"), "");
  EXPECT_EQ(name("simgpu::arith::div_f32<simgpu::arith::Round::up>"), "");
  EXPECT_EQ(name("simgpu::arith::add_f32<simgpu::arith::Round::up>"),
            "simgpu::arith::add_f32<simgpu::arith::Round::up>");
}

}  // namespace
}  // namespace simgpu::native

#include "simgpu/simulated_gpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace simgpu {
namespace {

using testing::Each;
using testing::Gt;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

/// y[i] = 2 * x[i] for i < n, as PTX.
constexpr const char* kTwice = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry _Z5twicePKfPfi(.param .u64 x, .param .u64 y, .param .u32 n)
{
  .reg .pred %p<2>; .reg .f32 %f<3>; .reg .b32 %r<6>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra $done;
  cvta.to.global.u64 %rd3, %rd1;
  cvta.to.global.u64 %rd4, %rd2;
  mul.wide.s32 %rd5, %r5, 4;
  add.s64 %rd6, %rd3, %rd5;
  add.s64 %rd7, %rd4, %rd5;
  ld.global.f32 %f1, [%rd6];
  add.f32 %f2, %f1, %f1;
  st.global.f32 [%rd7], %f2;
$done:
  ret;
}
)";

SimulatedGpuOptions a100() {
  return {.gpu = ROOFLAB_SOURCE_DIR "/specs/gpus/a100.toml", .workers = 1};
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const SimulatedGpuError& error) {
    return error.what();
  }
  return "no refusal";
}

TEST(SimulatedGpuTest, RunsAKernelAndTellsWhatItDid) {
  SimulatedGpu gpu(a100());
  std::vector<float> x(1000);
  std::iota(x.begin(), x.end(), 1.0F);
  const std::uint64_t in = gpu.upload(x);
  const std::uint64_t out = gpu.allocate(1000 * sizeof(float));
  const std::uint64_t module = gpu.load(kTwice);
  gpu.launch(module, "twice", {4}, {256}, {in, out, 1000});
  const std::vector<float> y = gpu.download<float>(out, 1000);
  for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], 2 * x[i]) << i;

  const Activity activity = gpu.collect();
  EXPECT_THAT(activity.findings, IsEmpty());
  ASSERT_THAT(activity.kernels, SizeIs(1));
  EXPECT_EQ(activity.kernels[0].name, "twice");
  EXPECT_GT(activity.kernels[0].time.total_us, 0);
  EXPECT_EQ(activity.kernels[0].counters.global_store_bytes, 4000U);
  EXPECT_EQ(nsight_counters(activity.kernels[0]).at("smsp__inst_executed.sum"),
            activity.kernels[0].counters.warp_instructions);
  EXPECT_THAT(gpu.collect().kernels, IsEmpty()) << "collected already";
}

TEST(SimulatedGpuTest, TellsOfAnAccessOutOfBoundsAndRefusesWhatFollows) {
  SimulatedGpu gpu(a100());
  const std::uint64_t in = gpu.upload(std::vector<float>(1000));
  const std::uint64_t out = gpu.allocate(1000 * sizeof(float));
  const std::uint64_t module = gpu.load(kTwice);
  const auto launch = [&] { gpu.launch(module, "twice", {4}, {256}, {in, out, 1024}); };
  EXPECT_THAT(refusal(launch), StartsWith("twice: cudaErrorIllegalAddress: "));
  EXPECT_THAT(refusal([&] { gpu.allocate(4); }), HasSubstr("cudaErrorIllegalAddress"));
  const Activity activity = gpu.collect();
  ASSERT_THAT(activity.findings, SizeIs(1));
  EXPECT_EQ(activity.findings[0].code, Code("RL0201"));
  EXPECT_STREQ(name_of(activity.findings[0].kind()), "out-of-bounds");
}

TEST(SimulatedGpuTest, HoldsArgumentsAgainstTheParameters) {
  SimulatedGpu gpu(a100());
  const std::uint64_t module = gpu.load(kTwice);
  const std::uint64_t x = gpu.allocate(4);
  EXPECT_THAT(refusal([&] {
                gpu.launch(module, "twice", {1}, {1}, {x, x});
              }),
              HasSubstr("has 3 parameters, and got 2 arguments"));
  EXPECT_THAT(refusal([&] {
                gpu.launch(module, "twice", {1}, {1}, {x, x, std::int64_t{1}});
              }),
              HasSubstr("parameter 2 of _Z5twicePKfPfi has 4 bytes, its argument 8"));
  EXPECT_THAT(refusal([&] { gpu.launch(module, "thrice", {1}, {1}, {}); }),
              HasSubstr("no kernel is called thrice; the module has: _Z5twicePKfPfi"));
  EXPECT_THAT(refusal([&] { gpu.launch(module + 1, "twice", {1}, {1}, {}); }),
              HasSubstr("there is no module"));
  EXPECT_THAT(refusal([&] {
                gpu.launch(module, "twice", {1}, {2048}, {x, x, 1});
              }),
              HasSubstr("cudaErrorInvalidValue"));
}

TEST(SimulatedGpuTest, NamesWhatItCannotRead) {
  SimulatedGpu gpu(a100());
  EXPECT_THAT(refusal([&] { gpu.load("this is no PTX"); }), StartsWith("load: cudaError"));
  EXPECT_THAT(refusal([&] { gpu.load(""); }), StartsWith("load: cudaError"));
  EXPECT_THAT(refusal([&] { gpu.download<float>(4, 1); }), StartsWith("read: cudaError"));
  EXPECT_THROW(SimulatedGpu({.gpu = "/nowhere.toml"}), std::runtime_error);
  EXPECT_THROW(SimulatedGpu({.gpu = "no-such-gpu"}), std::runtime_error);
}

}  // namespace
}  // namespace simgpu

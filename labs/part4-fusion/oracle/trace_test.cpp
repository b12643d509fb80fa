#include "labs/part4-fusion/oracle/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace rooflab {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

auto gap(double start, double duration, const char* cause) {
  return AllOf(Field(&TraceGap::start_us, start), Field(&TraceGap::duration_us, duration),
               Field(&TraceGap::cause, cause));
}

TEST(CategoryTest, KnowsNamesOfLibrariesAndFrameworks) {
  EXPECT_EQ(category_of("ampere_sgemm_128x64_tn"), "gemm");
  EXPECT_EQ(category_of("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64"), "gemm");
  EXPECT_EQ(category_of("void cublasLt::splitKreduce_kernel<32, 16, int, float>(int)"), "gemm");
  EXPECT_EQ(category_of("Memcpy HtoD (Pageable -> Device)"), "memory");
  EXPECT_EQ(category_of("void (anonymous namespace)::softmax_warp_forward<float>(float*)"),
            "softmax");
  EXPECT_EQ(category_of("add_rmsnorm(float const*, float*)"), "layernorm");
  EXPECT_EQ(category_of("void at::native::unrolled_elementwise_kernel<softmax>(int)"),
            "elementwise");
  EXPECT_EQ(category_of("void flash_fwd_kernel<cutlass::half_t>(Params)"), "other");
  EXPECT_EQ(category_of("void reduce_kernel<gemm>(int)"), "other");
}

TEST(CategoryTest, TakesPointwiseOperationsAsWordsOnly) {
  EXPECT_EQ(category_of("add"), "elementwise");
  EXPECT_EQ(category_of("GELU_forward"), "elementwise");
  EXPECT_EQ(category_of("scale_kernel(float*)"), "elementwise");
  EXPECT_EQ(category_of("padding_kernel(float*)"), "other");
  EXPECT_EQ(category_of("expand(float*)"), "other");
}

TEST(GapsTest, LieWhereNoStreamHasWork) {
  const Trace trace = parse_trace(
      "kernel 0 10 0 1 long\nkernel 2 3 1 2 inside\nkernel 8 4 1 3 over\nkernel 20 1 0 4 late\n");
  EXPECT_THAT(gaps_of(trace), ElementsAre(gap(12, 8, "device")));
  EXPECT_THAT(gaps_of(trace, {.after_the_event_before = true}),
              ElementsAre(gap(5, 3, "device"), gap(12, 8, "device")));
}

TEST(GapsTest, AreDueToWhatTheHostDid) {
  const Trace late =
      parse_trace("kernel 0 5 0 1 first\napi 6 2 0 2 cudaLaunchKernel\nkernel 9 5 0 2 second\n");
  EXPECT_THAT(gaps_of(late), ElementsAre(gap(5, 4, "launch")));
  const Trace waited = parse_trace(
      "kernel 0 5 0 1 first\napi 1 5 0 7 cudaStreamSynchronize\n"
      "api 6.5 1.5 0 2 cudaLaunchKernel\nkernel 9 5 0 2 second\n");
  EXPECT_THAT(gaps_of(waited), ElementsAre(gap(5, 4, "synchronisation")));
  const Trace queued =
      parse_trace("kernel 0 5 0 1 first\napi 1 2 0 2 cudaLaunchKernel\nkernel 6 5 0 2 second\n");
  EXPECT_THAT(gaps_of(queued), ElementsAre(gap(5, 1, "device")));
}

TEST(TraceTest, MadeOnesComeBackFromTheirTextAndHoldGapsOfAllCauses) {
  Random random(1);
  const Trace made = make_trace(
      {.launches = 60, .streams = 2, .kernel_us = 4, .launch_us = 3, .synchronise_every = 9},
      random);
  const Trace read = parse_trace(to_text(made));
  ASSERT_EQ(read.size(), made.size());
  for (std::size_t i = 0; i < made.size(); ++i) {
    EXPECT_EQ(read[i].start_us, made[i].start_us);
    EXPECT_EQ(read[i].duration_us, made[i].duration_us);
    EXPECT_EQ(read[i].name, made[i].name);
  }
  int launches = 0;
  int waits = 0;
  for (const TraceGap& gap : gaps_of(made)) {
    launches += gap.cause == "launch" ? 1 : 0;
    waits += gap.cause == "synchronisation" ? 1 : 0;
  }
  EXPECT_GT(launches, 5);
  EXPECT_GE(waits, 5);
}

TEST(TraceTest, RefusesLinesThatAreNoEvent) {
  EXPECT_THAT([] { parse_trace("kernel 0 10 name"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("kernel 0 10 name")));
  EXPECT_THAT(parse_trace(""), IsEmpty());
}

}  // namespace
}  // namespace rooflab

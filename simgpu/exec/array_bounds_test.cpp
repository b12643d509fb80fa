#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>

#include "simgpu/exec/engine_testing.h"

/// Addresses that leave the array in shared memory from which they are computed, and hit another
/// one; and all that must not be taken for it.
namespace simgpu::testing {
namespace {

using ::testing::HasSubstr;

/// One thread stores to the address in %r0, which `body` computes. The arrays lie one behind the
/// other, 128 bytes each.
std::string storing_kernel(const std::string& body) {
  return ".version 8.0\n.target sm_80\n.address_size 64\n"
         ".visible .entry kernel(.param .u32 offset)\n{\n"
         "  .reg .b32 %r<16>;\n  .reg .b64 %d<16>;\n  .reg .pred %p<4>;\n"
         "  .shared .align 4 .b8 first[128];\n  .shared .align 4 .b8 second[128];\n"
         "  .shared .align 4 .b8 third[128];\n"
         "  .local .align 8 .b8 own[64];\n  mov.u64 %d15, own;\n"
         "  ld.param.u32 %r15, [offset];\n" +
         body + "  st.shared.u32 [%r0], 7;\n  ret;\n}\n";
}

/// The message of the only finding; empty when there is none.
std::string finding_of(const std::string& body, std::int32_t offset) {
  Device device(storing_kernel(body));
  const LaunchResult result = device.run("kernel", {.block = {1, 1, 1}}, offset);
  EXPECT_EQ(result.status, LaunchStatus::ok) << body;
  EXPECT_LE(result.findings.size(), 1U) << body;
  if (result.findings.empty()) return "";
  EXPECT_EQ(result.findings[0].code, Code("RL0202")) << body;
  EXPECT_EQ(result.findings[0].kind(), FindingKind::out_of_bounds) << body;
  return result.findings[0].message;
}

TEST(ArrayBounds, NameTheArrayTheIndexAndWhatWasHit) {
  const std::string body = "  mov.u32 %r1, second;\n  add.u32 %r0, %r1, %r15;\n";
  EXPECT_EQ(finding_of(body, 124), "");
  EXPECT_EQ(finding_of(body, 0), "");
  EXPECT_THAT(finding_of(body, 128),
              HasSubstr("index 32 of shared array second, which has 32 elements of 4 bytes, and "
                        "touches byte 0 of shared array third"));
  EXPECT_THAT(finding_of(body, -4), HasSubstr("index -1 of shared array second"));
  EXPECT_THAT(finding_of(body, -4), HasSubstr("byte 124 of shared array first"));
}

TEST(ArrayBounds, FollowAnAddressThroughWhatNvccDoesToIt) {
  for (const std::string body :
       {"  mad.lo.u32 %r1, %r15, 1, 0;\n  mov.u32 %r2, second;\n  mad.lo.u32 %r0, %r15, 1, %r2;\n",
        "  mov.u32 %r2, second;\n  neg.s32 %r3, %r15;\n  sub.u32 %r0, %r2, %r3;\n",
        "  mov.u32 %r2, second+128;\n  add.u32 %r2, %r2, %r15;\n  add.u32 %r0, %r2, -128;\n",
        "  mov.u32 %r2, second;\n  cvt.u64.u32 %d2, %r2;\n  cvta.shared.u64 %d2, %d2;\n"
        "  cvt.s64.s32 %d3, %r15;\n  add.s64 %d2, %d2, %d3;\n  cvta.to.shared.u64 %d2, %d2;\n"
        "  cvt.u32.u64 %r0, %d2;\n",
        "  mov.u32 %r2, second;\n  setp.gt.s32 %p1, %r15, 999;\n  mov.u32 %r0, %r2;\n"
        "  @%p1 add.u32 %r0, %r0, 4;\n  add.u32 %r0, %r0, %r15;\n",
        "  mov.u32 %r0, second;\n  mov.u32 %r3, 0;\n$again:\n  add.u32 %r0, %r0, 4;\n"
        "  add.u32 %r3, %r3, 4;\n  setp.lt.s32 %p1, %r3, %r15;\n  @%p1 bra $again;\n"}) {
    EXPECT_EQ(finding_of(body, 100), "") << body;
    EXPECT_THAT(finding_of(body, 128), HasSubstr("shared array second")) << body;
  }
}

/// Each of these computes `second + offset` by way of `first`, which is how a program may come to
/// one array from another: it leaves no array that it has not chosen itself.
TEST(ArrayBounds, AreNotJudgedWhereTheArrayIsNotCertain) {
  const std::string both = "  mov.u32 %r1, first;\n  mov.u32 %r2, second;\n";
  for (const std::string& way : {
           std::string("  sub.u32 %r3, %r2, %r1;\n  add.u32 %r0, %r1, %r3;\n"),
           std::string("  sub.u32 %r3, %r1, %r2;\n  sub.u32 %r0, %r1, %r3;\n"),
           std::string("  setp.ne.u32 %p1, %r15, 999;\n  selp.b32 %r0, %r2, %r1, %p1;\n"),
           std::string("  xor.b32 %r3, %r1, %r2;\n  xor.b32 %r0, %r1, %r3;\n"),
           std::string("  or.b32 %r0, %r1, 128;\n"),
           std::string("  max.u32 %r0, %r1, %r2;\n"),
           std::string("  mov.u32 %r0, %r1;\n  setp.ne.u32 %p1, %r15, 999;\n"
                       "  @%p1 mov.u32 %r0, %r2;\n"),
           std::string("  st.local.u32 [own], %r2;\n  ld.local.u32 %r0, [own];\n"),
           std::string("  cvt.u64.u32 %d1, %r1;\n  cvt.u64.u32 %d2, %r2;\n"
                       "  sub.s64 %d3, %d2, %d1;\n  st.local.u64 [own], %d3;\n"
                       "  ld.local.u64 %d4, [own];\n  add.s64 %d5, %d1, %d4;\n"
                       "  cvt.u32.u64 %r0, %d5;\n"),
           std::string("  shfl.sync.idx.b32 %r0, %r2, 0, 31, -1;\n"),
           std::string("  mov.u32 %r0, 128;\n"),
       }) {
    const std::string body = both + way + "  add.u32 %r0, %r0, %r15;\n";
    for (const int offset : {0, 124, 128, -4}) EXPECT_EQ(finding_of(body, offset), "") << body;
  }
}

/// Random chains of sums that stay with one array, and of others that mix two: whether there is a
/// finding is known from how each was made.
class Chain {
 public:
  explicit Chain(std::mt19937& random) : random_(random) {}

  std::string make(bool mixes) {
    text_ = "  mov.u32 %r0, second;\n";
    const unsigned steps = 1 + random_() % 8;
    const unsigned mixing = random_() % steps;
    for (unsigned i = 0; i < steps; ++i) {
      if (mixes && i == mixing) mix();
      stay();
    }
    return text_ + "  add.u32 %r0, %r0, %r15;\n";
  }

 private:
  /// Changes nothing of the value.
  void stay() {
    const std::string amount = std::to_string(4 * (random_() % 100));
    switch (random_() % 5) {
      case 0:
        text_ += "  add.u32 %r0, %r0, " + amount + ";\n  sub.u32 %r0, %r0, " + amount + ";\n";
        break;
      case 1:
        text_ += "  mov.u32 %r1, " + amount + ";\n  mad.lo.u32 %r0, %r1, 3, %r0;\n" +
                 "  mul.lo.u32 %r1, %r1, -3;\n  add.u32 %r0, %r1, %r0;\n";
        break;
      case 2:
        text_ +=
            "  cvt.u64.u32 %d0, %r0;\n  cvta.shared.u64 %d0, %d0;\n"
            "  cvta.to.shared.u64 %d0, %d0;\n  cvt.u32.u64 %r0, %d0;\n";
        break;
      case 3:
        text_ += "  mov.u32 %r2, %tid.x;\n  add.u32 %r0, %r0, %r2;\n  sub.u32 %r0, %r0, %r2;\n";
        break;
      default:
        text_ += "  mov.u32 %r3, %r0;\n  mov.u32 %r0, %r3;\n";
    }
  }
  /// Comes back to the same value by way of another array.
  void mix() {
    const std::string other = random_() % 2 == 0 ? "first" : "third";
    text_ += "  mov.u32 %r4, " + other + ";\n";
    switch (random_() % 4) {
      case 0:
        text_ += "  sub.u32 %r5, %r0, %r4;\n  add.u32 %r0, %r4, %r5;\n";
        break;
      case 1:
        text_ += "  add.u32 %r0, %r0, %r4;\n  sub.u32 %r0, %r0, %r4;\n";
        break;
      case 2:
        text_ += "  setp.eq.u32 %p1, %r15, 12345;\n  selp.b32 %r0, %r4, %r0, %p1;\n";
        break;
      default:
        text_ += "  xor.b32 %r0, %r0, %r4;\n  xor.b32 %r0, %r0, %r4;\n";
    }
  }

  std::mt19937& random_;
  std::string text_;
};

TEST(ArrayBounds, HoldForRandomChainsAndNeverWhereTheyMixArrays) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const bool mixes = round % 2 == 1;
    // Not the kernel's own registers again, which would be defined by several chains.
    const std::string body = Chain(random).make(mixes);
    const auto offset = static_cast<std::int32_t>(4 * (random() % 96)) - 128;
    const bool leaves = offset < 0 || offset >= 128;
    EXPECT_EQ(!finding_of(body, offset).empty(), leaves && !mixes) << offset << "\n" << body;
  }
}

}  // namespace
}  // namespace simgpu::testing

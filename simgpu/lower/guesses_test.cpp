#include <gtest/gtest.h>

#include <string>

#include "simgpu/exec/engine.h"
#include "simgpu/ptx/parser.h"

/// Which plain loads may meet the atomics of other threads: those whose value an atomic of their
/// own thread checks, and no others.
namespace simgpu {
namespace {

/// Whether the first load of global or shared memory in `body` is one of them.
bool may_meet_atomics(const std::string& body) {
  const std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry kernel(.param .u64 place, .param .u64 out)\n{\n"
      "  .reg .b32 %r<16>;\n  .reg .b64 %d<16>;\n  .reg .pred %p<4>;\n  .reg .f32 %f<8>;\n"
      "  .shared .align 4 .b8 total[4];\n"
      "  ld.param.u64 %d1, [place];\n  ld.param.u64 %d2, [out];\n" +
      body + "$end:\n  ret;\n}\n";
  const auto program = lower(ptx::parse(text), {});
  const KernelInfo* kernel = find_kernel(*program, "kernel");
  EXPECT_TRUE(kernel->unsupported.empty()) << body;
  for (const InstructionInfo& info : kernel->instructions) {
    if (info.cls == InstructionClass::global_load || info.cls == InstructionClass::shared_load) {
      return info.meets_atomics;
    }
  }
  ADD_FAILURE() << "no load in " << body;
  return false;
}

const std::string kLoad = "  ld.global.u32 %r1, [%d1];\n";

TEST(Guesses, AreWhatACompareAndSwapExpects) {
  const std::string loop =
      "$again:\n  mov.b32 %f1, %r1;\n  add.f32 %f2, %f1, 0f3f800000;\n  mov.b32 %r2, %f2;\n"
      "  atom.global.cas.b32 %r3, [%d1], %r1, %r2;\n  setp.ne.u32 %p1, %r3, %r1;\n"
      "  mov.u32 %r1, %r3;\n  @%p1 bra $again;\n";
  EXPECT_TRUE(may_meet_atomics(kLoad + loop));
  EXPECT_TRUE(may_meet_atomics(kLoad + loop + "  st.global.u32 [%d2], %r3;\n"));
  EXPECT_TRUE(
      may_meet_atomics("  ld.shared.u32 %r1, [total];\n"
                       "  atom.shared.cas.b32 %r3, [total], %r1, 5;\n"));
  // The same place, by another register.
  EXPECT_TRUE(
      may_meet_atomics("  cvta.to.global.u64 %d3, %d1;\n  ld.global.u32 %r1, [%d3+8];\n"
                       "  add.s64 %d4, %d3, 8;\n"
                       "  atom.global.cas.b32 %r3, [%d4], %r1, 5;\n"));
}

/// As nvcc writes a search through a table of hashes.
TEST(Guesses, AreFoundWhereTheAddressIsComputedInAnotherWay) {
  const std::string probe =
      "  mov.u32 %r9, %tid.x;\n  cvt.s64.s32 %d9, %r9;\n"
      "$next:\n  mul.wide.s32 %d3, %r9, 4;\n  add.s64 %d4, %d1, %d3;\n"
      "  ld.global.u32 %r1, [%d4];\n  setp.eq.s32 %p1, %r1, 5;\n  @%p1 bra $end;\n"
      "  setp.ne.s32 %p2, %r1, 0;\n  @%p2 bra $further;\n"
      "  shl.b64 %d5, %d9, 2;\n  add.s64 %d6, %d1, %d5;\n"
      "  atom.global.cas.b32 %r2, [%d6], 0, 5;\n"
      "$further:\n  add.s32 %r3, %r9, 1;\n  rem.s32 %r9, %r3, 100;\n"
      "  cvt.s64.s32 %d9, %r9;\n  bra $next;\n";
  EXPECT_TRUE(may_meet_atomics(probe));
  std::string elsewhere = probe;
  elsewhere.replace(elsewhere.find("%d9, 2;"), 7, "%d9, 3;");
  EXPECT_FALSE(may_meet_atomics(elsewhere));
}

TEST(Guesses, AreNotWhatIsUsedOtherwise) {
  EXPECT_FALSE(may_meet_atomics(kLoad + "  st.global.u32 [%d2], %r1;\n"));
  EXPECT_FALSE(may_meet_atomics(kLoad + "  st.global.u32 [%d2], %r1;\n"
                                        "  red.global.add.u32 [%d1], 1;\n"));
  EXPECT_FALSE(may_meet_atomics(kLoad + "  add.u32 %r2, %r1, 1;\n"
                                        "  atom.global.exch.b32 %r3, [%d1], %r2;\n"));
  // Another place.
  EXPECT_FALSE(may_meet_atomics(kLoad + "  atom.global.cas.b32 %r3, [%d1+4], %r1, 5;\n"));
  EXPECT_FALSE(may_meet_atomics(kLoad + "  atom.global.cas.b32 %r3, [%d2], %r1, 5;\n"));
  // What is swapped in, not what is expected.
  EXPECT_FALSE(may_meet_atomics(kLoad + "  atom.global.cas.b32 %r3, [%d1], 5, %r1;\n"));
}

TEST(Guesses, DecideWhetherAnAtomicIsDone) {
  const std::string filter = "  setp.le.u32 %p1, %r1, 7;\n";
  EXPECT_TRUE(may_meet_atomics(kLoad + filter +
                               "  @%p1 bra $end;\n"
                               "  red.global.min.u32 [%d1], 7;\n"));
  EXPECT_TRUE(may_meet_atomics(kLoad + filter + "  @!%p1 red.global.min.u32 [%d1], 7;\n"));
  EXPECT_TRUE(may_meet_atomics(kLoad + "  sub.u32 %r2, %r1, 3;\n  setp.le.u32 %p1, %r2, 7;\n"
                                       "  @%p1 ret;\n  red.global.min.u32 [%d1], 7;\n"));
}

TEST(Guesses, DoNotDecideAboutAnythingElse) {
  const std::string filter = "  setp.le.u32 %p1, %r1, 7;\n";
  EXPECT_FALSE(may_meet_atomics(kLoad + filter +
                                "  @%p1 bra $past;\n"
                                "  st.global.u32 [%d2], 1;\n$past:\n"
                                "  red.global.min.u32 [%d1], 7;\n"))
      << "the atomic is done in any case";
  EXPECT_FALSE(may_meet_atomics(kLoad + filter +
                                "  @%p1 bra $end;\n"
                                "  red.global.min.u32 [%d2], 7;\n"));
  EXPECT_FALSE(may_meet_atomics(kLoad + filter +
                                "  @%p1 bra $end;\n"
                                "  st.global.u32 [%d2], %r1;\n"
                                "  red.global.min.u32 [%d1], 7;\n"));
}

TEST(Guesses, AreNotNeededWhereALoadIsVolatileOrStrong) {
  EXPECT_TRUE(
      may_meet_atomics("  ld.volatile.shared.u32 %r1, [total];\n"
                       "  st.global.u32 [%d2], %r1;\n"));
}

}  // namespace
}  // namespace simgpu

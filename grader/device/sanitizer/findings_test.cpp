#include "grader/device/sanitizer/findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <utility>

namespace rooflab::sanitizer {
namespace {

using simgpu::Dim3;
using simgpu::Finding;
using simgpu::FindingKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string testdata(const std::string& name) {
  std::ifstream in(std::string(ROOFLAB_SOURCE_DIR) + "/grader/device/sanitizer/testdata/" + name);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<Finding> of(const std::string& tool) { return findings_in(testdata(tool + ".txt")); }

std::vector<std::string> codes(const std::vector<Finding>& findings) {
  std::vector<std::string> codes;
  for (const Finding& finding : findings) codes.push_back(finding.code.text());
  return codes;
}

/// "file:line".
std::string place(const simgpu::AccessSite& site) {
  return site.file.substr(site.file.rfind('/') + 1) + ":" + std::to_string(site.line);
}

TEST(MemcheckTest, TellsWhereAnAccessIsOutOfBounds) {
  const auto findings = of("memcheck");
  EXPECT_THAT(codes(findings),
              ElementsAre("RL0201", "RL0204", "RL0202", "RL0203", "RL0201", "RL0201", "RL0308"));
  const Finding& first = findings.at(0);
  EXPECT_EQ(first.kind(), FindingKind::out_of_bounds);
  EXPECT_EQ(place(first.where), "scale.cu:21");
  EXPECT_EQ(first.kernel, "scale_kernel(float *, int)");
  EXPECT_EQ(first.where.thread, (Dim3{96, 0, 0}));
  EXPECT_EQ(first.where.block, (Dim3{3, 0, 0}));
  EXPECT_EQ(first.where.warp, simgpu::kUnknownWarp);
  EXPECT_EQ(first.where.action, "writes 4 bytes to global memory");
  EXPECT_EQ(first.object, "the first byte past the end of an allocation of 1024 bytes");
  EXPECT_EQ(first.occurrences, 2);
}

TEST(MemcheckTest, TellsTheCallsFromTheKernelToTheLine) {
  const Finding misaligned = of("memcheck").at(1);
  EXPECT_EQ(misaligned.kind(), FindingKind::misaligned);
  EXPECT_EQ(place(misaligned.where), "vector.cu:9");
  EXPECT_EQ(misaligned.kernel, "vector_kernel(const float *, float *)");
  ASSERT_THAT(misaligned.where.inlined_at, SizeIs(1));
  EXPECT_EQ(misaligned.where.inlined_at[0].function, "load4");
  EXPECT_EQ(misaligned.where.inlined_at[0].line, 31);
  EXPECT_THAT(misaligned.message, HasSubstr("16 bytes to global memory is misaligned"));
}

TEST(MemcheckTest, ReadsTheFormOfEarlierVersions) {
  const Finding old = of("memcheck").at(4);
  EXPECT_EQ(place(old.where), "old.cu:7");
  EXPECT_EQ(old.kernel, "old_kernel(int *)");
  EXPECT_EQ(old.object, "address 0, a null pointer");
}

TEST(MemcheckTest, KnowsAnAddressThatIsNowhereNear) {
  const Finding far = of("memcheck").at(5);
  EXPECT_EQ(far.object, "an address far from any allocation");
  EXPECT_EQ(far.where.line, 0);
  EXPECT_EQ(far.where.action, "updates atomically 4 bytes of global memory");
}

TEST(MemcheckTest, TellsOfCallsThatAreWrongAndNotOfThoseThatReportAKernelsFault) {
  const Finding call = of("memcheck").at(6);
  EXPECT_EQ(call.message, "cudaMemcpy refuses what it is called with: cudaErrorInvalidValue");
  EXPECT_FALSE(call.where.by_thread);
}

/// What memcheck says of a call that fails.
std::string failed(const std::string& call, const std::string& error, int number) {
  return "========= Program hit " + error + " (error " + std::to_string(number) +
         ") due to \"a reason\" on CUDA API call to " + call + ".\n";
}

TEST(MemcheckTest, TellsALaunchBySyntaxAsTheFunctionThatPeopleKnow) {
  // Of one wrong launch: what the runtime of CUDA 13 says, and what older ones say.
  const std::pair<const char*, int> errors[] = {{"cudaErrorInvalidValue", 1},
                                                {"cudaErrorInvalidConfiguration", 9}};
  for (const auto& [error, number] : errors) {
    const auto findings = findings_in(failed("__cudaLaunchKernel", error, number));
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_EQ(findings[0].message,
              std::string("cudaLaunchKernel refuses what it is called with: ") + error);
  }
}

TEST(MemcheckTest, LeavesOutCallsThatLibrariesMakeOfTheDriver) {
  EXPECT_THAT(findings_in(failed("cuFuncSetAttribute", "CUDA_ERROR_INVALID_VALUE", 1)), IsEmpty());
  EXPECT_THAT(findings_in(failed("cuStreamGetCaptureInfo", "CUDA_ERROR_INVALID_HANDLE", 400)),
              IsEmpty());
}

TEST(MemcheckTest, LeavesOutCallsOfTheGuestAndThoseThatRepeatAnError) {
  for (const char* call : {"cudaMemPoolImportFromShareableHandle", "cudaMemPoolImportPointer",
                           "cudaDeviceSynchronize", "cudaGetLastError", "cudaPeekAtLastError"}) {
    EXPECT_THAT(findings_in(failed(call, "cudaErrorInvalidValue", 1)), IsEmpty()) << call;
  }
}

TEST(InitcheckTest, TellsWhatWasNeverWritten) {
  const auto findings = of("initcheck");
  EXPECT_THAT(codes(findings), ElementsAre("RL0205", "RL0206", "RL0205"));
  EXPECT_EQ(place(findings[0].where), "sum.cu:12");
  EXPECT_EQ(findings[0].message,
            "A thread reads 4 bytes that nothing has written before: global memory");
  EXPECT_EQ(findings[1].object, "byte 132 of shared memory");
  EXPECT_THAT(findings[2].message, HasSubstr("A copy reads global memory"));
}

TEST(RacecheckTest, TellsRacesWithBothSidesInTheirOrder) {
  const auto findings = of("racecheck");
  EXPECT_THAT(codes(findings), ElementsAre("RL0302", "RL0301", "RL0303"));
  const Finding& early = findings[0];
  EXPECT_EQ(early.kind(), FindingKind::shared_race);
  EXPECT_EQ(place(early.where), "sum.cu:56");  // reads
  EXPECT_EQ(early.where.action, "reads shared memory");
  ASSERT_TRUE(early.other);
  EXPECT_EQ(place(*early.other), "sum.cu:44");
  EXPECT_EQ(early.other->thread, (Dim3{35, 0, 0}));
  EXPECT_EQ(early.where.block, (Dim3{2, 0, 0}));
  EXPECT_EQ(early.occurrences, 2);
  EXPECT_EQ(early.message,
            "A thread reads byte 140 of shared memory in the same barrier interval in which "
            "another thread writes it");
  EXPECT_EQ(place(findings[1].where), "tile.cu:36");   // overwrites what …
  EXPECT_EQ(place(*findings[1].other), "tile.cu:39");  // … is read here
}

TEST(SynccheckTest, TellsOfBarriersThatNotAllReach) {
  const auto findings = of("synccheck");
  EXPECT_THAT(codes(findings), ElementsAre("RL0305", "RL0305", "RL0305", "RL0306"));
  EXPECT_EQ(findings[0].kernel, "tile_kernel(int *, int *)");
  EXPECT_EQ(place(findings[0].where), "tile.cu:42");
  EXPECT_THAT(findings[1].message, HasSubstr("threads of a warp"));
  // Not the line in the toolkit's header.
  EXPECT_EQ(place(findings[2].where), "mask.cu:48");
  EXPECT_THAT(findings[2].message, HasSubstr("warp-wide operation"));
  EXPECT_EQ(place(findings[3].where), "wait.cu:98");
}

TEST(FindingsTest, AreNoneInOtherTexts) {
  EXPECT_THAT(findings_in(""), IsEmpty());
  EXPECT_THAT(findings_in("Invalid __global__ write of size 4 bytes\n"), IsEmpty());
  EXPECT_THAT(findings_in("=========\n========= ERROR SUMMARY: 0 errors\n"), IsEmpty());
  EXPECT_THAT(findings_in("========= Invalid __texture__ read of size 4 bytes\n"), IsEmpty());
  EXPECT_THAT(findings_in("========= ERROR: Potential RAW hazard detected at __shared__ 0x8c in "
                          "block (0,0,0) :\n=========     Write Thread (1,0)\n"),
              IsEmpty());
}

TEST(FindingsTest, KeepToTheirLimits) {
  std::string many;
  for (int i = 0; i < 10'000; ++i) {
    many +=
        "========= Invalid __global__ write of size 4 bytes\n=========     at k()+0x1 in a.cu:" +
        std::to_string(i + 1) + "\n";
  }
  EXPECT_THAT(findings_in(many), SizeIs(kMostFindings));
  const std::string name(100'000, 'x');
  const auto findings = findings_in("========= Invalid __global__ write of size 4 bytes\n" +
                                    ("=========     at " + name) + "+0x1 in a.cu:1\n");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_LE(findings[0].kernel.size(), kLongestName);
}

TEST(FindingsTest, TakeNoNumberThatDoesNotFit) {
  const auto findings = findings_in(
      "========= Invalid __global__ write of size 99999999999999999999999 bytes\n"
      "=========     at k()+0x1 in a.cu:99999999999\n"
      "=========     by thread (4294967296,0,0) in block (0,0,0)\n"
      "=========     Address 0xfffffffffffffffffffffff is out of bounds\n");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].where.line, 0);
  EXPECT_EQ(findings[0].where.thread, (Dim3{0, 0, 0}));
}

}  // namespace
}  // namespace rooflab::sanitizer

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>
#include <string>

#include "simgpu/exec/engine.h"
#include "simgpu/ptx/parser.h"

/// Bounds on what a small text can make of itself, and places in files that the reader can change.
namespace simgpu {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kHeader = ".version 8.0\n.target sm_80\n.address_size 64\n";

std::shared_ptr<const Program> program_of(const std::string& text) {
  return lower(ptx::parse(kHeader + text), {});
}

std::int64_t peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// First, for it looks at the process's peak.
TEST(Lowering, KeepsALongFileNameOnce) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer takes memory of its own";
#endif
  std::string text = ".file 1 \"" + std::string(4000, 'a') +
                     "\"\n.visible .entry k()\n{\n.reg .b32 %r<2>;\n.loc 1 3 5\n";
  for (int i = 0; i < 50'000; ++i) text += "mov.u32 %r1, 7;\n";
  const std::int64_t before = peak_kib();
  const auto program = program_of(text + "ret;\n}\n");
  EXPECT_EQ(find_kernel(*program, "k")->instructions.at(49'999).line, 3U);
  EXPECT_LT(peak_kib() - before, 100'000) << "KiB for 50,000 instructions";
}

/// Each function calls the next one twice; the last has `body`.
std::string doubling_calls(int levels, const std::string& body) {
  std::string text = ".func f0()\n{\n" + body + "ret;\n}\n";
  for (int level = 1; level <= levels; ++level) {
    const std::string call = "call f" + std::to_string(level - 1) + ";\n";
    text += ".func f" + std::to_string(level) + "()\n{\n" + call + call + "ret;\n}\n";
  }
  return text + ".visible .entry k()\n{\ncall f" + std::to_string(levels) + ";\nret;\n}\n";
}

TEST(Lowering, InlinesCallsThatDoubleAtEachLevel) {
  EXPECT_THAT(find_kernel(*program_of(doubling_calls(5, "")), "k")->unsupported, IsEmpty());
}

TEST(Lowering, BoundsTheCallsOfOneKernelEvenWhenTheyHaveNoCode) {
  const auto program = program_of(doubling_calls(50, ""));
  EXPECT_THAT(find_kernel(*program, "k")->unsupported, ElementsAre(HasSubstr("100,000 calls")));
}

TEST(Lowering, BoundsTheRefusalsOfOneKernel) {
  const auto program = program_of(doubling_calls(50, "frobnicate.u32 %laneid;\n"));
  EXPECT_THAT(find_kernel(*program, "k")->unsupported, Contains(HasSubstr("more than 1000")));
}

TEST(Lowering, BoundsTheInstructionsOfAllKernelsTogether) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "minutes, and not a thread to watch";
#endif
  std::string text = ".func f()\n{\n.reg .b32 %r<2>;\n";
  for (int i = 0; i < 10'000; ++i) text += "mov.u32 %r1, 7;\n";
  text += "ret;\n}\n";
  for (int kernel = 0; kernel < 30; ++kernel) {
    text += ".visible .entry k" + std::to_string(kernel) + "()\n{\n";
    for (int call = 0; call < 10; ++call) text += "call f;\n";
    text += "ret;\n}\n";
  }
  const auto program = program_of(text);
  EXPECT_THAT(find_kernel(*program, "k0")->unsupported, IsEmpty());
  EXPECT_THAT(find_kernel(*program, "k29")->unsupported, ElementsAre(HasSubstr("2,000,000")));
}

TEST(Lowering, RefusesClustersOfSeveralBlocks) {
  const auto program = program_of(
      ".visible .entry pair() .explicitcluster .reqnctapercluster 2, 1, 1\n{\nret;\n}\n"
      ".visible .entry one() .explicitcluster .reqnctapercluster 1, 1, 1\n{\nret;\n}\n");
  EXPECT_THAT(find_kernel(*program, "pair")->unsupported,
              ElementsAre("clusters of 2 blocks (__cluster_dims__)"));
  EXPECT_THAT(find_kernel(*program, "one")->unsupported, IsEmpty());
}

/// The file in which a program that is inlined from `inner` into /home/me/gemm.cu seems to be.
std::string place_of(const std::string& inner) {
  const auto program = program_of(
      ".file 1 \"/home/me/gemm.cu\"\n.file 2 \"" + inner +
      "\"\n.visible .entry k()\n{\n.reg .b32 %r<2>;\n.loc 1 41 3\n"
      ".loc 2 9 1, function_name $L__info_string0, inlined_at 1 41 3\nmov.u32 %r1, 7;\nret;\n}\n"
      ".section .debug_str\n{\n$L__info_string0:\n.b8 102,0\n}\n");
  const KernelInfo& info = *find_kernel(*program, "k");
  return info.files->at(info.instructions.at(0).file) + ":" +
         std::to_string(info.instructions.at(0).line);
}

TEST(Lowering, PlacesInstructionsOfInstalledHeadersWhereTheyAreUsed) {
  for (const std::string header :
       {"/usr/include/c++/12/cmath", "/usr/local/cuda/include/cuda_fp16.hpp",
        "/usr/local/cuda-13.0/include/cuda_fp16.hpp", "/opt/cuda/include/cuda_fp16.hpp",
        "/usr/local/cuda/bin/../targets/x86_64-linux/include/cuda_fp16.hpp",
        "/usr/local/cuda/targets/x86_64-linux/include/cooperative_groups/details/helpers.h",
        "/home/me/rooflab/.cuda/include/cuda_fp16.hpp",
        "/home/me/rooflab/.cuda/bin/../include/cuda_fp16.hpp",
        "/home/me/env/lib/python3.11/site-packages/nvidia/cu13/include/cuda_fp16.hpp"}) {
    EXPECT_EQ(place_of(header), "/home/me/gemm.cu:41") << header;
  }
}

TEST(Lowering, PlacesInstructionsOfTheProgramsOwnHeadersInThem) {
  for (const std::string header :
       {"/home/me/tile.cuh", "/home/me/include/tile.cuh", "/home/me/src/../include/tile.cuh",
        "/home/me/targets/tile.cuh"}) {
    EXPECT_EQ(place_of(header), header + ":9");
  }
}

/// The words of .param variables that a kernel's instructions read, or write.
std::vector<std::uint32_t> passed_words(const std::string& text, bool written) {
  std::vector<std::uint32_t> words;
  const auto program = program_of(text);
  for (const InstructionInfo& info : find_kernel(*program, "k")->instructions) {
    const auto& own = written ? info.writes_passed : info.reads_passed;
    words.insert(words.end(), own.begin(), own.end());
  }
  return words;
}

TEST(Lowering, ValuesThatAFunctionIsCalledWithAreFollowed) {
  const std::string text =
      ".func (.param .b32 out) f(.param .b64 in)\n{\n.reg .b64 %rd<2>;\n.reg .b32 %r<2>;\n"
      "ld.param.u64 %rd1, [in];\ncvt.u32.u64 %r1, %rd1;\nst.param.b32 [out], %r1;\nret;\n}\n"
      ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<3>;\n.reg .b32 %r<2>;\n"
      ".param .b64 passed;\n.param .b32 result;\nld.param.u64 %rd1, [p];\n"
      "st.param.b64 [passed], %rd1;\ncall (result), f, (passed);\nld.param.b32 %r1, [result];\n"
      "ret;\n}\n";
  const std::vector<std::uint32_t> written = passed_words(text, true);
  EXPECT_EQ(written.size(), 3U) << "two words in, one out, and none of the kernel's own parameters";
  EXPECT_EQ(passed_words(text, false), written);
}

TEST(Lowering, BoundsWhatItFollowsOfTheValuesOfACall) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer takes memory of its own";
#endif
  const std::string passes =
      "{\n.param .align 4 .b8 x[100000000];\n.param .align 4 .b8 y[100000000];\n"
      "call (y), f, (x);\n}\nret;\n}\n";
  const std::int64_t before = peak_kib();
  program_of(
      ".func (.param .align 4 .b8 out[100000000]) f(.param .align 4 .b8 in[100000000])\n{\n" +
      passes + ".visible .entry k()\n{\n" + passes);
  EXPECT_LT(peak_kib() - before, 50'000) << "KiB for two calls with values of 100 MB";
}

}  // namespace
}  // namespace simgpu

#include "simgpu/host_code/host_lines.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "simgpu/host_code/build_id.h"

namespace simgpu::host_code {
namespace {

/// This program's own file: tests are linked with a build ID.
const std::filesystem::path kSelf = "/proc/self/exe";

bool is_source(const std::string& file) { return file.ends_with(".cu"); }

/// A leak that two calls led to.
Activity activity_of(std::uint64_t module) {
  Activity activity;
  Finding& leak = activity.findings.emplace_back();
  leak.code = "RL0309";
  leak.where.by_thread = false;
  leak.where.called_from = {{module, 0x10}, {module, 0x20}};
  return activity;
}

TEST(HostLines, AreThoseOfTheInnermostCallInTheProgramsOwnSource) {
  Activity activity = activity_of(build_id_of(kSelf));
  std::vector<std::string> command;
  name_host_lines(
      activity, {kSelf},
      [&](const std::vector<std::string>& words) {
        command = words;
        return "0x0000000000000010\n/usr/include/cuda_runtime.h:700\n"
               "0x0000000000000020\n/usr/include/cuda_runtime.h:5\n/src/k.cu:42 (discriminator 2)\n"
               "/src/k.cu:50\n";
      },
      is_source);
  EXPECT_EQ(activity.findings[0].where.file, "/src/k.cu");
  EXPECT_EQ(activity.findings[0].where.line, 42U);
  EXPECT_EQ(command, (std::vector<std::string>{"addr2line", "-a", "-i", "-e", kSelf.string(),
                                               "0x10", "0x20"}));
}

TEST(HostLines, OfAKernelsAccessAreAnotherLineOfTheFinding) {
  Activity activity = activity_of(build_id_of(kSelf));
  activity.findings[0].where.file = "/src/kernel.cu";
  activity.findings[0].where.line = 7;
  name_host_lines(
      activity, {kSelf}, [](const auto&) { return "0x20\n/src/k.cu:42\n"; }, is_source);
  EXPECT_EQ(activity.findings[0].where.line, 7U);
  ASSERT_EQ(activity.findings[0].also.size(), 1U);
  EXPECT_EQ(activity.findings[0].also[0], (SourceNote{"/src/k.cu", 42, "launched here"}));
}

TEST(HostLines, AreThoseOfTheFirstCallThatFailedToo) {
  Activity activity;
  activity.failed_call = FailedCall{"cudaMalloc", "cudaErrorMemoryAllocation", {}};
  activity.failed_call->where.called_from = {{build_id_of(kSelf), 0x20}};
  name_host_lines(
      activity, {kSelf}, [](const auto&) { return "0x20\n/src/k.cu:42\n"; }, is_source);
  EXPECT_EQ(activity.failed_call->where.line, 42U);
}

TEST(HostLines, StayUnknownWhereTheModuleIsAnother) {
  Activity activity = activity_of(build_id_of(kSelf) + 1);
  name_host_lines(
      activity, {kSelf},
      [](const auto&) {
        ADD_FAILURE() << "nothing is to be run";
        return "";
      },
      is_source);
  EXPECT_EQ(activity.findings[0].where.line, 0U);
}

TEST(HostLines, BelieveNoOutputThatIsNone) {
  for (const char* output : {"", "??:0\n", "0x20\n??:?\n", "0x20\n/src/k.cu\n", "0x20\n:\n",
                             "/src/k.cu:3\n", "0x99\n/src/k.cu:3\n", "0x20\n/src/k.cu:0\n"}) {
    Activity activity = activity_of(build_id_of(kSelf));
    name_host_lines(
        activity, {kSelf}, [&](const auto&) { return output; }, is_source);
    EXPECT_EQ(activity.findings[0].where.line, 0U) << output;
  }
}

TEST(BuildIds, OfNoProgramAreZero) {
  EXPECT_NE(build_id_of(kSelf), 0U);
  EXPECT_EQ(build_id_of("/etc/hostname"), 0U);
  EXPECT_EQ(build_id_of("/dev/zero"), 0U);
  EXPECT_EQ(build_id_of("/nowhere"), 0U);
}

TEST(BuildIds, BehindOtherNotesAreFoundAndBrokenOnesAreNot) {
  const auto notes = [](std::uint32_t first_bytes) {
    struct Note {
      Elf64_Nhdr header;
      std::array<char, 4> name;
      std::array<std::uint32_t, 4> text;
    };
    const std::array<Note, 2> both{Note{{4, first_bytes, 1}, {'a', 'b', 'c', 0}, {}},
                                   Note{{4, 16, NT_GNU_BUILD_ID}, {'G', 'N', 'U', 0}, {7, 0}}};
    std::vector<std::byte> bytes(sizeof both);
    std::memcpy(bytes.data(), both.data(), sizeof both);
    return bytes;
  };
  EXPECT_EQ(build_id_in(notes(16)), 7U);
  for (const std::uint32_t bytes : {0U, 15U, 500U, 0xFFFFFFFFU}) {
    EXPECT_LE(build_id_in(notes(bytes)), 7U);
  }
}

}  // namespace
}  // namespace simgpu::host_code

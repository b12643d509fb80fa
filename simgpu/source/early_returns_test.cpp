#include "simgpu/source/early_returns.h"

#include <gtest/gtest.h>

#include <map>

namespace simgpu {
namespace {

/// A kernel whose line with `HERE` in a comment is the place.
bool may_leave(const std::string& text, const std::string& header = "") {
  const std::map<std::string, std::string> files{{"src/k.cu", text}, {"src/common.h", header}};
  const std::size_t here = text.find("HERE");
  AccessSite site;
  site.file = "src/k.cu";
  site.line = 1 + static_cast<std::uint32_t>(std::count(
                      text.begin(), text.begin() + static_cast<std::ptrdiff_t>(here), '\n'));
  return may_leave_before(site, [&](const std::string& file) -> std::optional<std::string> {
    const auto found = files.find(file);
    if (found == files.end()) return std::nullopt;
    return found->second;
  });
}

std::string kernel(const std::string& body) {
  return "#include \"common.h\"\nnamespace {\n__global__ void k(int* out, int n) {\n  int v = "
         "1;\n" +
         body + "\n  out[0] = v;\n}\n}\n";
}

TEST(EarlyReturns, AnIfIsNone) {
  EXPECT_FALSE(may_leave(kernel("  if (threadIdx.x < 16) v = __shfl_sync(~0u, v, 1);  // HERE")));
}

TEST(EarlyReturns, AReturnBeforeThePlaceIsOne) {
  EXPECT_TRUE(
      may_leave(kernel("  if (n) { out[1] = 2; return; }\n  v = __shfl_sync(1, v, 1);  // HERE")));
}

TEST(EarlyReturns, WordsInCommentsAndStringsAreNone) {
  EXPECT_FALSE(may_leave(kernel("  // return;\n  /* goto */ printf(\"return; %d\", v);\n"
                                "  printf(R\"x(return;)x\");\n  f(v);  // HERE") +
                         "__device__ void f(int);"));
}

TEST(EarlyReturns, AReturnBehindThePlaceIsNone) {
  EXPECT_FALSE(may_leave(kernel("  v = __shfl_sync(1, v, 1);  // HERE\n  if (v) return;")));
}

TEST(EarlyReturns, AReturnBehindThePlaceInItsLoopIsOne) {
  EXPECT_TRUE(
      may_leave(kernel("  for (int i = 0; i < 4; ++i) {\n    v = __shfl_sync(1, v, 1);  // HERE\n"
                       "    if (v) return;\n  }")));
  EXPECT_TRUE(
      may_leave(kernel("  do {\n    v = __shfl_sync(1, v, 1);  // HERE\n"
                       "    if (v) return;\n  } while (n > v);")));
}

TEST(EarlyReturns, AReturnBehindTheLoopIsNone) {
  EXPECT_FALSE(
      may_leave(kernel("  for (int i = 0; i < 4; ++i) v = __shfl_sync(1, v, 1);  // HERE\n"
                       "  if (v) return;")));
}

TEST(EarlyReturns, ReturningTheResultIsNone) {
  EXPECT_FALSE(
      may_leave("__device__ int f(int v) {\n  return __shfl_sync(~0u, v, 1);  // HERE\n}"));
  EXPECT_TRUE(may_leave(
      "__device__ int f(int v) {\n  if (v) return 1; return __shfl_sync(~0u, v, 1);  // HERE\n}"));
}

TEST(EarlyReturns, OtherFunctionsDoNotCount) {
  EXPECT_FALSE(may_leave("__device__ int f() { return 3; }\n" +
                         kernel("  v = __shfl_sync(~0u, v, f());  // HERE")));
}

TEST(EarlyReturns, AMacroMayHideOne) {
  const std::string use = "  LEAVE(n);\n  v = __shfl_sync(~0u, v, 1);  // HERE";
  EXPECT_TRUE(may_leave(kernel(use), "#define LEAVE(x) if (x) return"));
  EXPECT_TRUE(
      may_leave(kernel(use), "#define LEAVE(x) OUT(x)\n#define OUT(x) \\\n  if (x) return"));
  EXPECT_TRUE(may_leave(kernel(use)));
  EXPECT_FALSE(may_leave(kernel(use), "#define LEAVE(x) v += x"));
}

TEST(EarlyReturns, AWordThatNothingExplainsMayHideOne) {
  EXPECT_TRUE(may_leave(kernel("  leave_if(n);\n  v = __shfl_sync(~0u, v, 1);  // HERE")));
  EXPECT_FALSE(may_leave(kernel("  leave_if(n);\n  v = __shfl_sync(~0u, v, 1);  // HERE"),
                         "__device__ void leave_if(int n);"));
  EXPECT_TRUE(may_leave(kernel("  v = TRY(n);\n  v = __shfl_sync(~0u, v, 1);  // HERE")));
}

TEST(EarlyReturns, AssemblyAndGotoMayLeave) {
  EXPECT_TRUE(may_leave(kernel("  asm(\"exit;\");\n  v = __shfl_sync(~0u, v, 1);  // HERE")));
  EXPECT_TRUE(
      may_leave(kernel("  if (n) goto end;\n  v = __shfl_sync(~0u, v, 1);  // HERE\nend:")));
}

TEST(EarlyReturns, WhatCannotBeReadMayLeave) {
  EXPECT_TRUE(may_leave("#line 7\n" + kernel("  v = __shfl_sync(~0u, v, 1);  // HERE")));
  EXPECT_TRUE(may_leave("KERNEL(k, v = __shfl_sync(~0u, v, 1));  // HERE"));
  AccessSite site;
  site.line = 3;
  EXPECT_TRUE(may_leave_before(site, [](const std::string&) { return std::nullopt; }));
}

TEST(EarlyReturns, BracesOfBothSidesOfAnIfDoNotMislead) {
  EXPECT_TRUE(
      may_leave(kernel("  if (n) return;\n#if A\n  }\n#else\n  }\n#endif\n  if (v) {\n"
                       "    v = __shfl_sync(~0u, v, 1);  // HERE\n  }")));
}

TEST(EarlyReturns, EveryFunctionThatThePlaceIsInlinedIntoCounts) {
  const std::string text =
      "__device__ int f(int v) {\n  return __shfl_sync(~0u, v, 1);\n}\n"
      "__global__ void k(int* out, int n) {\n  if (n) return;\n  out[0] = f(n);\n}\n";
  const SourceText source = [&](const std::string&) { return text; };
  AccessSite site;
  site.file = "k.cu";
  site.line = 2;
  EXPECT_FALSE(may_leave_before(site, source));
  site.inlined_at.push_back({"f", "k.cu", 6, 0});
  EXPECT_TRUE(may_leave_before(site, source));
}

TEST(EarlyReturns, SettlingKeepsWhatHoldsInAnyCase) {
  Finding always, unless;
  unless.unless_returned = true;
  std::vector<Finding> findings{always, unless};
  settle_by_source(findings, [](const std::string&) { return std::nullopt; });
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_FALSE(findings[0].unless_returned);
}

/// What RL0305 says of the branch at line 2 of a kernel.
std::vector<SourceNote> notes_of(const std::string& text, FindingDetail detail) {
  Finding finding;
  finding.code = "RL0305";
  finding.detail = detail;
  finding.where.file = "k.cu";
  finding.where.line = 9;
  if (detail == FindingDetail::returned_lane) {
    finding.other = AccessSite{.file = "k.cu", .line = 2};
  } else {
    finding.also = {{"k.cu", 2, "the branch"}};
  }
  std::vector<Finding> findings{finding};
  settle_by_source(findings, [&](const std::string&) { return text; });
  return findings.at(0).also;
}

TEST(Returns, ThatKeepThreadsAwayAreNamedBesideTheBranch) {
  const auto notes = notes_of("void k() {\n  if (i >= n) {\n    y[i] = 0;\n    return;\n  }\n}\n",
                              FindingDetail::none);
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes[0].line, 2U);
  EXPECT_EQ(notes[1], (SourceNote{"k.cu", 4, "threads that return here do not come there"}));
}

TEST(Returns, OnTheLineOfTheBranchAreNamedInstead) {
  const auto notes =
      notes_of("void k() {\n  if (i >= n) return;\n  f();\n}\n", FindingDetail::none);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0], (SourceNote{"k.cu", 2, "threads that return here do not come there"}));
}

TEST(Returns, OfALaneAreThoseBehindItsBranch) {
  const auto notes =
      notes_of("void k() {\n  if (i >= n) {\n    return;\n  }\n}\n", FindingDetail::returned_lane);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].line, 3U);
}

TEST(Returns, OfOtherStatementsAreNot) {
  for (const char* text : {"void k() {\n  if (i < n) {\n    f();\n  }\n  return;\n}\n",
                           "void k() {\n  if (i < n) f();\n  else return;\n}\n",
                           "void k() {\n  for (;;) return;\n}\n", "void k() {\n  if (", ""}) {
    const auto notes = notes_of(text, FindingDetail::none);
    ASSERT_EQ(notes.size(), 1U) << text;
    EXPECT_EQ(notes[0].text, "the branch") << text;
  }
}

}  // namespace
}  // namespace simgpu

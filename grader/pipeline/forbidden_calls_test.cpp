#include "grader/pipeline/forbidden_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rooflab {
namespace {

using By = ForbiddenCall::By;
using testing::ElementsAre;
using testing::HasSubstr;

/// `_Z3runPf` at line 3 of the student's file, and `init` of a header.
TracedFile traced(std::vector<Reference> references) {
  return {.name = "gemm.cu",
          .text =
              "#include <x.cuh>\n// cublasSgemm is for another task\nvoid run(float* p) {\n"
              "  prepare(p);\n  cublasSgemm(p);\n}\n",
          .header_folders = {"/usr/local/cuda", "/tmp/*/include"},
          .references = std::move(references),
          .places =
              "0000000000000000 T _Z3runPf\t/tmp/build/part1/gemm.cu:3\n"
              "0000000000000000 W init\t/usr/local/cuda/include/nvtx3/init.h:155\n"
              "0000000000000000 t _ZL12cublasGemmExPf\t/usr/local/cuda/include/cublas.h:9\n"
              "0000000000000020 t _GLOBAL__sub_I__Z3runPf\t/usr/local/cuda/include/x.h:1\n"
              "0000000000000000 T again\t/tmp/build/part1/x/.././gemm.cu:4\n"
              "0000000000000000 T up\t/usr/local/cuda/include/../../../../tmp/build/gemm.cu:4\n"
              "0000000000000000 T linked\t/proc/self/fd/3:4\n"
              "0000000000000000 W ours\t/tmp/build/include/toolkit/x.h:9\n"
              "0000000000000000 W wheel\t/usr/local/cuda/bin/../targets/include/x.h:9\n"
              "0000000000000000 r nobody\n",
          .complete = true};
}

ForbiddenCall call_of(const std::string& symbol, std::vector<TracedFile> files) {
  TaskSpec task;
  task.forbidden = {"^cublas"};
  const auto calls = forbidden_calls_of(
      {.undefined = {"strlen", symbol}, .defined = {}, .unresolved = {}, .withheld = {}}, task,
      files);
  EXPECT_EQ(calls.size(), 1U);
  return calls.empty() ? ForbiddenCall{} : calls.front();
}

TEST(ForbiddenCallsTest, ACallOfTheStudentsOwnIsToldWithItsLine) {
  const auto call = call_of("cublasSgemm_v2", {traced({{"_Z3runPf", "cublasSgemm_v2"}})});
  EXPECT_EQ(call.by, By::student);
  EXPECT_EQ(call.file, "gemm.cu");
  EXPECT_EQ(call.line, 5U) << "behind the function's start, and without the macro's version";
}

TEST(ForbiddenCallsTest, ACallInTheStudentsOwnHeaderIsToldWithTheHeadersLine) {
  TracedFile file = traced({{"multiply", "cublasSgemm_v2"}});
  file.headers["common.cuh"] =
      "#pragma once\ninline void multiply(float* p) {\n  cublasSgemm(p);\n}\n";
  file.places += "0000000000000000 W multiply\t/tmp/build/part1/common.cuh:2\n";
  const auto call = call_of("cublasSgemm_v2", {file});
  EXPECT_EQ(call.by, By::student);
  EXPECT_EQ(call.file, "common.cuh");
  EXPECT_EQ(call.line, 3U);
}

TEST(ForbiddenCallsTest, ASymbolOfAMillionCharactersIsToldAsAnyOther) {
  const std::string symbol = "cublas_v" + std::string(1'000'000, '9');
  const auto call = call_of(symbol, {traced({{"_Z3runPf", symbol}})});
  EXPECT_EQ(call.by, By::student);
  EXPECT_EQ(call.line, 5U) << "where cublas is called";
}

TEST(ForbiddenCallsTest, WhatOnlyAHeadersFunctionsCallIsNotTheStudents) {
  EXPECT_EQ(call_of("dlsym", {traced({{"init", "dlsym"}, {"_Z3runPf", "init"}})}).by, By::header);
  EXPECT_EQ(call_of("dlsym", {traced({{"init", "dlsym"}, {"_Z3runPf", "dlsym"}})}).by, By::student);
}

TEST(ForbiddenCallsTest, AHeadersWrapperOfAForbiddenNameIsForbiddenItself) {
  const auto call = call_of(
      "cublasGemmEx",
      {traced({{"_ZL12cublasGemmExPf", "cublasGemmEx"}, {"_Z3runPf", "_ZL12cublasGemmExPf"}})});
  EXPECT_EQ(call.by, By::student);
  EXPECT_EQ(call_of("cublasGemmEx", {traced({{"_ZL12cublasGemmExPf", "cublasGemmEx"}})}).by,
            By::header)
      << "nobody calls it";
}

TEST(ForbiddenCallsTest, AFileIsAHeaderByTheFolderThatItsPathLeadsTo) {
  for (const char* own : {"again", "up", "linked"}) {
    EXPECT_EQ(call_of("dlsym", {traced({{own, "dlsym"}})}).by, By::student) << own;
  }
  for (const char* header : {"ours", "wheel"}) {
    EXPECT_EQ(call_of("dlsym", {traced({{header, "dlsym"}})}).by, By::header) << header;
  }
}

TEST(ForbiddenCallsTest, AFunctionOfTheToolkitIsReachedByNoHeadersCall) {
  TaskSpec task;
  task.forbidden = {"^eager"};
  const std::vector<TracedFile> files = {traced({{"init", "eager_add"}, {"init", "eager_scale"}})};
  const DynamicSymbols symbols{
      .undefined = {}, .defined = {"eager_scale"}, .unresolved = {}, .withheld = {"eager_add"}};
  for (const ForbiddenCall& call : forbidden_calls_of(symbols, task, files)) {
    EXPECT_EQ(call.by, By::student) << call.symbol;
  }
}

TEST(ForbiddenCallsTest, CodeOfNoKnownPlaceIsTheStudents) {
  EXPECT_EQ(call_of("dlsym", {traced({{"hidden", "dlsym"}})}).by, By::student);
  EXPECT_EQ(call_of("dlsym", {traced({{"", "dlsym"}})}).by, By::student) << "a pointer in data";
  EXPECT_EQ(call_of("dlsym", {traced({{"_GLOBAL__sub_I__Z3runPf", "dlsym"}})}).by, By::student)
      << "an initializer, which the compiler puts at any header's line";
}

TEST(ForbiddenCallsTest, WhatNoFileRefersToCameWithACallOfTheCoursesCode) {
  EXPECT_EQ(call_of("cublasSgemm_v2", {traced({{"_Z3runPf", "strlen"}})}).by, By::student);
  EXPECT_EQ(call_of("cublasSgemm_v2", {}).by, By::student);
}

TEST(ForbiddenCallsTest, WhatCouldNotBeTracedIsForAPersonToLookAt) {
  TracedFile cut = traced({});
  cut.complete = false;
  const auto call = call_of("dlsym", {cut});
  EXPECT_EQ(call.by, By::unknown);
  EXPECT_THAT(note_of_untraced(call), HasSubstr("dlsym"));
}

TEST(ForbiddenCallsTest, LookingFunctionsUpIsForbiddenButForTheProfiler) {
  TaskSpec task;
  task.forbidden = {"^cublas"};
  EXPECT_THAT(forbidden_symbols(task), ElementsAre("^cublas", "^dl(m?open|v?sym)$"));
  task.libraries = {"cupti"};
  EXPECT_THAT(forbidden_symbols(task), ElementsAre("^cublas"));
}

TEST(ForbiddenCallsTest, LineDirectivesMoveNoCodeIntoAHeader) {
  EXPECT_EQ(without_line_directives("int a;\n#line 1 \"cub.cuh\"\n  # 5 \"x\"\n%: line 3\n"
                                    "/* a */ # /* b */ line 7\r\nint b;"),
            "int a;\n#pragma line 1 \"cub.cuh\"\n  #pragma  5 \"x\"\n%:pragma  line 3\n"
            "/* a */ #pragma  /* b */ line 7\r\nint b;");
}

TEST(ForbiddenCallsTest, LineDirectivesMayGoOverSeveralLines) {
  EXPECT_EQ(without_line_directives("#\\\nline 1\n"), "#pragma \\\nline 1\n");
  EXPECT_EQ(without_line_directives("# li\\ \t\r\nne 1\n"), "#pragma  li\\ \t\r\nne 1\n");
  EXPECT_EQ(without_line_directives("%\\\n: 1\n"), "%\\\n:pragma  1\n");
  EXPECT_EQ(without_line_directives("/*\n*/ # /*\n*/ line 1\n"), "/*\n*/ #pragma  /*\n*/ line 1\n");
}

TEST(ForbiddenCallsTest, CommentsThatManyLinesOpenAreReadOnce) {
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += "#/*\n";
  EXPECT_EQ(without_line_directives(text), text);
  EXPECT_EQ(without_line_directives(text + "*/ line 1\n").find("#pragma /*\n"), 0U);
}

TEST(ForbiddenCallsTest, OtherTextStaysAsItIs) {
  for (const char* text : {"#define line 1\n#if 0\n", "#lines\n", "f(\"#line 1\");\n", "# /* line",
                           "#", "# /*", "// x \\\n#line 1\n", "int a; // ends in a backslash \\"}) {
    EXPECT_EQ(without_line_directives(text), text);
  }
}

}  // namespace
}  // namespace rooflab

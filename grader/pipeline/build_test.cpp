#include "grader/pipeline/build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "grader/pipeline/elf_symbols.h"
#include "grader/posix/file_calls.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

using testing::HasSubstr;
using testing::Not;
using End = BuildOutcome::End;

/// A checkout of one part with the function `void scale(float*, int)`, and a cache of its own.
class BuilderTest : public testing::Test {
 protected:
  BuilderTest() : folder_(testing::TempDir()) {
    options_.installation.root = folder_.path();
    options_.installation.build = folder_.path() / "build";
    options_.installation.cache = folder_.path() / "cache";
    options_.toolchain = find_toolchain({ROOFLAB_SOURCE_DIR, ROOFLAB_BINARY_DIR, {}});
    write("labs/part7-test/interface/scale.h", "#pragma once\nvoid scale(float* x, int n);\n");
    write("labs/toolkit/check.h", "#pragma once\n#define CHECKED 1\n");
    write("labs/part7-test/oracle/secret.h", "#pragma once\n");
    std::filesystem::create_directories(folder_.path() / "build/lib/labs/part7-test");
    std::filesystem::copy_file(std::string(ROOFLAB_TESTDATA) + "/adapter.o",
                               options_.installation.adapter("part7-test", "scale"));
    write("build/lib/labs/toolkit.a", kEmptyArchive);
    part_.directory = "part7-test";
    part_.root = folder_.path() / "labs/part7-test";
    task_.id = "scale";
    task_.file = "scale.cu";
    task_.entry = "scale";
  }

  void write(const std::string& path, const std::string& text) const {
    write_file_atomically(folder_.path() / path, text);
  }
  BuildOutcome build(const std::string& source) const { return build_all({{task_.file, source}}); }
  BuildOutcome build_all(const std::vector<SourceFile>& sources) const {
    return Builder(options_).build(part_, task_, sources);
  }

  static constexpr const char* kGood = R"(#include "scale.h"
#include "toolkit/check.h"
static_assert(CHECKED == 1);
__global__ void scale_kernel(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}
void scale(float* x, int n) { scale_kernel<<<(n + 255) / 256, 256>>>(x, n); }
)";

  /// As `ar` writes one without members.
  static constexpr const char* kEmptyArchive = "!<arch>\n";

  TemporaryFolder folder_;
  BuildOptions options_;
  PartSpec part_;
  TaskSpec task_;
};

TEST_F(BuilderTest, CompilesOnceAndTakesTheSecondFromTheCache) {
  const BuildOutcome first = build(kGood);
  ASSERT_EQ(first.end, End::built) << first.messages;
  EXPECT_FALSE(first.cached);
  EXPECT_THAT(read_dynamic_symbols(first.library).defined,
              testing::Contains("rooflab_entry_scale"));
  EXPECT_THAT(read_dynamic_symbols(first.library).unresolved, testing::IsEmpty());
  const BuildOutcome second = build(kGood);
  EXPECT_TRUE(second.cached);
  EXPECT_EQ(second.library, first.library);

  // A changed header changes the build, though the source is the same.
  write("labs/toolkit/check.h", "#pragma once\n#define CHECKED 2\n");
  const BuildOutcome third = build(kGood);
  EXPECT_FALSE(third.cached);
  EXPECT_EQ(third.end, End::failed);
  EXPECT_THAT(third.messages, HasSubstr("part7-test/scale.cu(3): error"));
}

TEST_F(BuilderTest, ForASimulatedGpuMakesMachineCodeBesideTheLibraryAndNotInIt) {
  options_.for_simulation = true;
  std::filesystem::create_directories(folder_.path() / "build/bin");
  std::filesystem::create_symlink(ROOFLAB_BINARY_DIR "/bin/rooflab-sandboxed",
                                  folder_.path() / "build/bin/rooflab-sandboxed");
  const BuildOutcome built = build(kGood);
  ASSERT_EQ(built.end, End::built) << built.messages;
  std::size_t kept = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(options_.installation.cache / "machine_code")) {
    kept += entry.is_regular_file() ? 1 : 0;
  }
  EXPECT_EQ(kept, 1U);
  EXPECT_EQ(read_file(built.library).find(".nv.info"), std::string::npos)
      << "which each piece of machine code has";

  std::string refused = kGood;
  refused.replace(refused.find("x[i] *= 2"), 9, "asm(\"no.such.instruction;\")");
  const BuildOutcome failed = build(refused);
  EXPECT_EQ(failed.end, End::failed);
  EXPECT_EQ(failed.file, "scale.cu");
  EXPECT_THAT(failed.messages, testing::AllOf(HasSubstr("ptxas"), HasSubstr("such")));
}

TEST_F(BuilderTest, AnotherHostCompilerOrAnotherGpuBuildsAnew) {
  EXPECT_THAT(options_.toolchain.host_compiler, testing::ContainsRegex("[0-9]+\\.[0-9]+"));
  const std::string broken = "#error \"quick to compile\"\n";
  EXPECT_FALSE(build(broken).cached);
  EXPECT_TRUE(build(broken).cached);
  options_.toolchain.host_compiler += ", patched";
  EXPECT_FALSE(build(broken).cached);
  options_.toolchain.version += ", patched";
  EXPECT_FALSE(build(broken).cached);
  options_.compute_capability = 90;
  EXPECT_FALSE(build(broken).cached);
  EXPECT_TRUE(build(broken).cached);
}

TEST_F(BuilderTest, AnotherLibraryAdapterOrToolkitLinksAnew) {
  ASSERT_EQ(build(kGood).end, End::built);
  EXPECT_TRUE(build(kGood).cached);
  task_.libraries = {"cudart"};
  EXPECT_FALSE(build(kGood).cached);
  write("build/lib/labs/toolkit.a", std::string(kEmptyArchive) + "\n");
  EXPECT_FALSE(build(kGood).cached);
  write("build/lib/labs/part7-test/scale.o", "no adapter");
  const BuildOutcome broken = build(kGood);
  EXPECT_FALSE(broken.cached);
  EXPECT_EQ(broken.end, End::failed);
  EXPECT_EQ(broken.file, "") << "no file of the student's fails to compile";
  EXPECT_TRUE(build(kGood).cached);
}

TEST_F(BuilderTest, NvrtcIsLinkedAndItsFunctionsCanBeForbidden) {
  std::string source = std::string("#include <nvrtc.h>\n") + kGood;
  const std::string launch = "void scale(float* x, int n) { ";
  source.insert(source.find(launch) + launch.size(), "nvrtcVersion(&n, &n); ");
  task_.libraries = {"nvrtc"};
  const BuildOutcome built = build(source);
  ASSERT_EQ(built.end, End::built) << built.messages;
  const DynamicSymbols symbols = read_dynamic_symbols(built.library);
  EXPECT_THAT(symbols.unresolved, testing::IsEmpty());
  EXPECT_THAT(all_forbidden(symbols, {"^nvrtc"}), testing::ElementsAre("nvrtcVersion"));
}

TEST_F(BuilderTest, AnIncludedHeaderBringsInNothingThatIsNotCalled) {
  const std::string lookup = R"(
#include <dlfcn.h>
inline void* included(const char* name) { return dlsym(nullptr, name); }
void* never_called(const char* name) { return included(name); }
)";
  const BuildOutcome built = build(lookup + kGood);
  ASSERT_EQ(built.end, End::built) << built.messages;
  EXPECT_THAT(read_dynamic_symbols(built.library).undefined, Not(testing::Contains("dlsym")));
  EXPECT_THAT(built.traced, testing::IsEmpty());
}

// nvtx3, which CUB calls, looks a profiler up.
TEST_F(BuilderTest, CallsOfIncludedHeadersAreToldFromTheStudentsOwn) {
  const std::string calls = R"(
#include <nvtx3/nvToolsExt.h>
void scale(float* x, int n) {
  nvtxMarkA("scale");
  kernel_of_scale(x, n);
}
)";
  std::string source = kGood;
  source.replace(source.find("void scale(float* x, int n) {"), 29,
                 "static void kernel_of_scale(float* x, int n) {");
  const BuildOutcome honest = build(source + calls);
  ASSERT_EQ(honest.end, End::built) << honest.messages;
  const DynamicSymbols symbols = read_dynamic_symbols(honest.library);
  ASSERT_THAT(symbols.undefined, testing::Contains("dlsym"));
  for (const ForbiddenCall& call : forbidden_calls_of(symbols, task_, honest.traced)) {
    EXPECT_EQ(call.by, ForbiddenCall::By::header) << call.symbol;
  }

  std::string forged =
      "#include <dlfcn.h>\n#line 1 \"/usr/local/cuda/include/nvtx3/x.h\"\n" + source + calls;
  forged.replace(forged.find("nvtxMarkA("), 10, "dlsym(nullptr, ");
  const BuildOutcome cheat = build(forged);
  ASSERT_EQ(cheat.end, End::built) << cheat.messages;
  const auto found = forbidden_calls_of(read_dynamic_symbols(cheat.library), task_, cheat.traced);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].by, ForbiddenCall::By::student);
  EXPECT_EQ(found[0].file, "scale.cu");
  EXPECT_GT(found[0].line, 0U);
}

/// A toolkit with `rooflab::twice`, which the task forbids, and `rooflab::four_times`, which calls
/// it.
class ForbiddenToolkitTest : public BuilderTest {
 protected:
  ForbiddenToolkitTest() {
    task_.forbidden = {"^_ZN7rooflab5twiceEi$"};
    const auto archive = options_.installation.toolkit_archive();
    write("twice.cpp",
          "namespace rooflab { int twice(int x) { return 2 * x; } }\n"
          "namespace rooflab { int four_times(int x) { return twice(twice(x)); } }\n");
    const std::string make = "cd " + folder_.path().string() + " && rm " + archive.string() +
                             " && g++ -fPIC -O0 -c twice.cpp && ar rcsD " + archive.string() +
                             " twice.o";
    EXPECT_EQ(std::system(make.c_str()), 0);
  }
  /// The good file, with `code` before it, which has `int result()`, and a call of that.
  static std::string with(const std::string& code) {
    std::string source = code + "\n" + kGood;
    return source.insert(source.find("scale_kernel<<<"), "n += result(); ");
  }
  std::vector<ForbiddenCall> calls_in(const BuildOutcome& built) const {
    return forbidden_calls_of(read_dynamic_symbols(built.library), task_, built.traced);
  }

  static constexpr const char* kTwice = "namespace rooflab { int twice(int x); }\n";
};

TEST_F(ForbiddenToolkitTest, WhatATaskForbidsOfTheToolkitReachesNoSubmission) {
  const std::string call = "inline int result() { return rooflab::twice(2); }";
  const std::string line =
      "line 5 \"" + (options_.toolchain.root / "include/x.h").string() + "\"\n";
  for (const std::string& forged :
       {std::string(), "#" + line, "#\\\n" + line, "#define HASH #\nHASH " + line}) {
    const BuildOutcome built = build(with(kTwice + forged + call));
    ASSERT_EQ(built.end, End::built) << built.messages;
    const DynamicSymbols symbols = read_dynamic_symbols(built.library);
    EXPECT_THAT(symbols.withheld, testing::ElementsAre("_ZN7rooflab5twiceEi")) << forged;
    EXPECT_THAT(symbols.defined, Not(testing::Contains("_ZN7rooflab5twiceEi"))) << forged;
    const auto calls = calls_in(built);
    ASSERT_EQ(calls.size(), 1U) << forged;
    EXPECT_EQ(calls[0].by, ForbiddenCall::By::student) << forged;
    EXPECT_EQ(calls[0].symbol, "_ZN7rooflab5twiceEi");
    if (forged.empty()) {
      EXPECT_EQ(calls[0].line, 2U);
    }
  }
}

TEST_F(ForbiddenToolkitTest, AHiddenSymbolDoesNotBringItInEither) {
  const BuildOutcome built =
      build(with("namespace rooflab { __attribute__((visibility(\"hidden\"))) int twice(int x); }\n"
                 "static int result() { return rooflab::twice(2); }"));
  EXPECT_EQ(built.end, End::failed);
  EXPECT_THAT(built.messages, HasSubstr("rooflab::twice(int)"));
}

TEST_F(ForbiddenToolkitTest, AFunctionOfTheSubmissionsOwnMayHaveItsName) {
  const BuildOutcome built =
      build(with("namespace rooflab { __attribute__((visibility(\"default\"))) int twice(int x) { "
                 "return x + x; } }\nstatic int result() { return rooflab::twice(2); }"));
  ASSERT_EQ(built.end, End::built) << built.messages;
  EXPECT_THAT(calls_in(built), testing::IsEmpty());
  EXPECT_THAT(read_dynamic_symbols(built.library).unresolved, testing::IsEmpty());
}

TEST_F(ForbiddenToolkitTest, AnotherFunctionThatCallsItStillDoesAndIsForbiddenWithIt) {
  const BuildOutcome built =
      build(with("namespace rooflab { int four_times(int x); }\n"
                 "static int result() { return rooflab::four_times(2); }"));
  ASSERT_EQ(built.end, End::built) << built.messages;
  EXPECT_THAT(read_dynamic_symbols(built.library).unresolved, testing::IsEmpty());
  const auto calls = calls_in(built);
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].by, ForbiddenCall::By::student);
}

// The macros that tell whether the compiler optimizes are the same when calls are traced.
TEST_F(BuilderTest, ACallIsTracedWhereverThePreprocessorLeavesIt) {
  for (const char* condition : {"#ifdef __OPTIMIZE__", "#ifndef __NO_INLINE__"}) {
    std::string source = std::string("#include <dlfcn.h>\n#include <nvtx3/nvToolsExt.h>\n") + kGood;
    source.insert(source.find("scale_kernel<<<"), std::string("nvtxMarkA(\"scale\");\n") +
                                                      condition +
                                                      "\n  dlsym(nullptr, \"x\");\n#endif\n");
    const BuildOutcome built = build(source);
    ASSERT_EQ(built.end, End::built) << built.messages;
    bool found = false;
    for (const ForbiddenCall& call :
         forbidden_calls_of(read_dynamic_symbols(built.library), task_, built.traced)) {
      found = found || (call.symbol == "dlsym" && call.by == ForbiddenCall::By::student);
    }
    EXPECT_TRUE(found) << condition;
  }
}

TEST_F(BuilderTest, AWithheldHeaderSaysWhyItIsMissing) {
  const std::string source = std::string("#include \"toolkit/eager/gelu.h\"\n") + kGood;
  write("labs/toolkit/eager/gelu.h", "#pragma once\n");
  EXPECT_EQ(build(source).end, End::built);
  task_.withheld = {"eager"};
  part_.tasks = {task_};
  const BuildOutcome refused = build(source);
  EXPECT_EQ(refused.end, End::failed);
  EXPECT_THAT(refused.messages,
              HasSubstr("toolkit/eager/gelu.h does what this task asks for: write it yourself"));
  EXPECT_EQ(build(kGood).end, End::built) << "nothing else of the toolkit is withheld";
}

TEST_F(BuilderTest, AFileThatAnotherTaskUsesIsCompiledWithWhatItsOwnTaskHas) {
  write("labs/toolkit/eager/gelu.h", "#pragma once\ninline float scaled() { return 2; }\n");
  TaskSpec owner;
  owner.file = "factor.cu";
  part_.tasks = {owner, task_};
  part_.tasks[1].withheld = {"eager"};
  const SourceFile factor = {"factor.cu",
                             "#include \"toolkit/eager/gelu.h\"\n"
                             "float factor() { return scaled(); }\n"};
  EXPECT_EQ(build_all({{"scale.cu", kGood}, factor}).end, End::built);
  part_.tasks[0].withheld = {"eager/gelu.h"};
  EXPECT_EQ(build_all({{"scale.cu", kGood}, factor}).file, "factor.cu");
}

TEST_F(BuilderTest, CuptiIsNotLinkedSinceItIsLoadedAtRunTime) {
  task_.libraries = {"cupti"};
  const BuildOutcome built = build(kGood);
  ASSERT_EQ(built.end, End::built) << built.messages;
  EXPECT_THAT(read_file(built.library), Not(HasSubstr("libcupti")));
}

TEST_F(BuilderTest, FilesThatATaskUsesAreCompiledByThemselvesAndLinked) {
  write("labs/part7-test/interface/factor.h", "#pragma once\nfloat factor();\n");
  const SourceFile caller = {"scale.cu",
                             "#include \"factor.h\"\n#include \"scale.h\"\nstatic int calls;\n"
                             "void scale(float* x, int n) { x[n] = factor() + ++calls; }\n"};
  const SourceFile used = {"factor.cu",
                           "#include \"factor.h\"\nstatic int calls;\n"
                           "float factor() { return ++calls; }\n"};
  EXPECT_THAT(read_dynamic_symbols(build_all({caller}).library).unresolved,
              testing::Not(testing::IsEmpty()));
  const BuildOutcome outcome = build_all({caller, used});
  ASSERT_EQ(outcome.end, End::built) << outcome.messages;
  EXPECT_THAT(read_dynamic_symbols(outcome.library).unresolved, testing::IsEmpty());
  EXPECT_TRUE(build_all({caller, used}).cached);
  // The same file in another task is compiled no second time.
  const auto entries = [this] {
    std::size_t count = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(options_.installation.cache / "build")) {
      count += entry.is_directory() ? 1 : 0;
    }
    return count;
  };
  const std::size_t before = entries();
  build_all({used});
  EXPECT_EQ(entries(), before + 1) << "linked alone, not compiled";
}

TEST_F(BuilderTest, AHeaderOfTheStudentsIsThereToIncludeAndChangesWhatIncludesIt) {
  const std::string source =
      "#include \"common.cuh\"\n" + std::string(kGood) + "static_assert(kFactor == 2);\n";
  const auto with = [&](const std::string& header) {
    return build_all({{"scale.cu", source}, {"common.cuh", header, true}});
  };
  EXPECT_EQ(with("constexpr int kFactor = 2;\n").end, End::built);
  EXPECT_TRUE(with("constexpr int kFactor = 2;\n").cached);
  const BuildOutcome wrong = with("constexpr int kFactor = 3;\n");
  EXPECT_EQ(wrong.end, End::failed);
  EXPECT_THAT(wrong.messages, HasSubstr("part7-test/scale.cu"));
  EXPECT_THAT(with("constexpr int kFactor = ;\n").messages, HasSubstr("part7-test/common.cuh"));
  EXPECT_THAT(build(source).messages, HasSubstr("common.cuh: No such file"));
}

TEST_F(BuilderTest, AUsedFileThatDoesNotCompileIsNamed) {
  const BuildOutcome outcome =
      build_all({{"scale.cu", kGood}, {"factor.cu", "float factor() { return 1 }\n"}});
  EXPECT_EQ(outcome.end, End::failed);
  EXPECT_EQ(outcome.file, "factor.cu");
  EXPECT_THAT(outcome.messages, HasSubstr("part7-test/factor.cu(1): error: expected a \";\""));
}

TEST_F(BuilderTest, ThreadsThatNeedTheSameFileCompileItOnce) {
  const Builder builder(options_);
  std::atomic<int> compiled = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        compiled += builder.build(part_, task_, {{"scale.cu", "#error\n"}}).cached ? 0 : 1;
      });
    }
  }
  EXPECT_EQ(compiled, 1);
}

TEST_F(BuilderTest, ACompilerThatWasStoppedOnABusyMachineGetsAnotherTry) {
  options_.time_limit_s = 0.05;
  const BuildOutcome stopped = build(kGood);
  EXPECT_EQ(stopped.end, End::failed);
  EXPECT_THAT(stopped.messages, HasSubstr("the compiler was stopped after 0.05 s"));
  options_.time_limit_s = 120;
  const BuildOutcome again = build(kGood);
  EXPECT_EQ(again.end, End::built) << again.messages;
}

TEST_F(BuilderTest, ACompilerWithoutRoomIsNoErrorOfTheSource) {
  FileCalls calls;
  calls.statvfs = [](const char* path, struct statvfs* status) {
    const int result = ::statvfs(path, status);
    status->f_bavail = 0;
    return result;
  };
  const std::string wrong = "void scale(float*, int) { not C++ }\n";
  {
    const InstalledFileCalls installed(calls);
    try {
      build(wrong);
      FAIL();
    } catch (const FileError& error) {
      EXPECT_THAT(error.what(), HasSubstr("0 bytes are left on its disk; free some space"));
    }
    EXPECT_EQ(build(kGood).end, End::built) << "it needed no more";
  }
  const BuildOutcome outcome = build(wrong);
  EXPECT_EQ(outcome.end, End::failed);
  EXPECT_FALSE(outcome.cached) << "nothing was kept of it";
}

TEST_F(BuilderTest, ErrorsNamePlacesInTheSubmissionAndNoFolderOfOurs) {
  const BuildOutcome outcome =
      build("#include \"scale.h\"\nvoid scale(float* x, int n) { x[0] = n }\n");
  EXPECT_EQ(outcome.end, End::failed);
  EXPECT_TRUE(outcome.library.empty());
  EXPECT_THAT(outcome.messages, HasSubstr("part7-test/scale.cu(2): error: expected a \";\""));
  EXPECT_THAT(outcome.messages, Not(HasSubstr(folder_.path().string())));
}

TEST_F(BuilderTest, OraclesAndOtherFilesAreNotThereToInclude) {
  const BuildOutcome outcome = build("#include \"part7-test/oracle/secret.h\"\n");
  EXPECT_EQ(outcome.end, End::failed);
  EXPECT_THAT(outcome.messages, HasSubstr("No such file"));
}

// What reads a library later looks for forbidden calls in its one table of symbols.
TEST_F(BuilderTest, ASecondTableOfSymbolsIsAnErrorOfTheSource) {
  const std::string table =
      "asm(\".section .mine,\\\"a\\\",@11\\nmine: .quad 0,0,0,1,1,1\\n.text\\n\");\n"
      "extern \"C\" const long mine[];\n"
      "__attribute__((constructor)) static void keep() { asm volatile(\"\" : : \"r\"(mine[1])); "
      "}\n";
  const BuildOutcome outcome = build(table + kGood);
  EXPECT_EQ(outcome.end, End::failed);
  EXPECT_TRUE(outcome.repeatable);
  EXPECT_THAT(outcome.messages, HasSubstr("two tables of one kind"));
  EXPECT_THAT(build(table + kGood).messages, HasSubstr("two tables of one kind"))
      << "from the cache";
}

TEST_F(BuilderTest, AFileOfMoreMegabytesThanAnybodyReadsIsAnErrorOfTheSource) {
  const BuildOutcome outcome =
      build("asm(\".data\\n.fill 70000000,1,7\\n.text\\n\");\n" + std::string(kGood));
  EXPECT_EQ(outcome.end, End::failed);
  EXPECT_THAT(outcome.messages, HasSubstr("a file of more than 64 MiB"));
}

TEST_F(BuilderTest, EndlessMessagesAreCapped) {
  std::string source;
  for (int i = 0; i < 20000; ++i) source += "#warning so much to say about so little\n";
  const BuildOutcome outcome = build(source + "#error\n");
  EXPECT_EQ(outcome.end, End::failed);
  EXPECT_LT(outcome.messages.size(), 40000U);
}

}  // namespace
}  // namespace rooflab

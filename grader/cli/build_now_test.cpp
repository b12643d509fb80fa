#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "grader/cli/cli_fixture.h"

/// What a build tree does not have yet when it is first asked for.
namespace rooflab {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

/// A build tree with the students' program alone, and a `cmake` that does what the test says.
class BuildNowTest : public CliTest {
 protected:
  BuildNowTest() {
    const fs::path bin = folder_.path() / "build/bin";
    fs::create_directories(bin);
    fs::copy_file(ROOFLAB_BINARY_DIR "/bin/grader", bin / "grader");
    environment_["PATH"] = (folder_.path() / "tools").string() + ":" + environment_["PATH"];
  }

  void write_program(const std::string& path, const std::string& text) const {
    write(path, "#!/bin/sh\n" + text);
    fs::permissions(folder_.path() / path, fs::perms::owner_all);
  }
  Ran run(const std::string& arguments) const {
    return run_program({"sh", "-c", "build/bin/grader " + arguments});
  }
};

TEST_F(BuildNowTest, AKitHasNoCommandsForThoseWhoTeach) {
  const Ran ran = run("batch submissions --out graded");
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(ran.out, IsEmpty());
  EXPECT_EQ(ran.error, "grader: this copy of the course has no commands for those who teach\n");
}

TEST_F(BuildNowTest, WhatTeachersNeedIsBuiltOnceAndThenDoesAsItIsTold) {
  write("build/CMakeCache.txt", "");
  write_program("taught", "echo \"$0: $@\"\n");
  write_program("tools/cmake", "echo \"cmake $@\"\ncp taught build/bin/rooflab-teach\n");
  const Ran first = run("release --out kit.tar.gz");
  EXPECT_EQ(first.code, 0);
  const std::string build = folder_.path() / "build";
  EXPECT_EQ(first.out, build + "/bin/rooflab-teach: release --out kit.tar.gz\n");
  EXPECT_EQ(first.error, "grader: building commands for those who teach, once\ncmake --build " +
                             build + " --target teaching\n");
  EXPECT_THAT(run("release --out kit.tar.gz").error, IsEmpty());
}

TEST_F(BuildNowTest, APartThatIsMissingIsBuiltBeforeItIsGraded) {
  write("build/CMakeCache.txt", "");
  fs::create_directories(folder_.path() / "labs/part7-test/oracle");
  write_program("tools/cmake", "echo \"cmake $@\"\nexit 1\n");
  const Ran ran = run("--part 7");
  EXPECT_EQ(ran.code, 3);
  const std::string build = folder_.path() / "build";
  EXPECT_THAT(ran.error, HasSubstr("grader: building Part 7, once\ncmake "
                                   "--build " +
                                   build + " --target part7-test\n"));
  EXPECT_THAT(ran.error, HasSubstr("cannot build Part 7; after mending what is said above, "
                                   "run cmake --build " +
                                   build + " --target part7-test\n"));
}

TEST_F(BuildNowTest, WithoutCMakeItIsSaidWhatToRun) {
  write("build/CMakeCache.txt", "");
  environment_["PATH"] = folder_.path() / "nowhere";
  const Ran ran = run_program({folder_.path() / "build/bin/grader", "verify"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(
      ran.error,
      HasSubstr(
          "cannot build commands for those who teach; after mending what is said above, run "));
}

}  // namespace
}  // namespace rooflab

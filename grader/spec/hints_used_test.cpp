#include "grader/spec/hints_used.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "grader/spec/files.h"

namespace rooflab {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class HintsUsedTest : public testing::Test {
 protected:
  HintsUsedTest() : folder_(testing::TempDir()) {
    for (const char* id : {"gemm", "gemv"}) {
      TaskSpec task;
      task.id = id;
      task.hints = {"why?", "so", "thus"};
      task.groups = {{.name = "small", .title = {}, .points = 1, .hints = {"what?", "it", "that"}},
                     {.name = "large", .title = {}, .points = 1}};
      part_.tasks.push_back(task);
    }
  }
  std::map<std::string, int> read(const std::string& text) const {
    write_file_atomically(folder_.path() / kHintsUsedFile, text);
    return read_hints_used(folder_.path(), part_);
  }

  TemporaryFolder folder_;
  PartSpec part_;
};

TEST_F(HintsUsedTest, WhatWasWrittenIsRead) {
  EXPECT_THAT(read_hints_used(folder_.path(), part_), IsEmpty());
  write_hints_used(folder_.path(), {{"gemm", 1}, {"gemv", 3}});
  EXPECT_THAT(read_hints_used(folder_.path(), part_),
              ElementsAre(Pair("gemm", 1), Pair("gemv", 3)));
}

TEST_F(HintsUsedTest, ThoseOfAGroupAreCountedApart) {
  write_hints_used(folder_.path(), {{"gemm", 1}, {"gemm/small", 2}});
  EXPECT_THAT(read_file(folder_.path() / kHintsUsedFile),
              testing::EndsWith("\ngemm = 1\n\"gemm/small\" = 2\n"));
  EXPECT_THAT(read_hints_used(folder_.path(), part_),
              ElementsAre(Pair("gemm", 1), Pair("gemm/small", 2)));
  EXPECT_THAT(read("\"gemm/large\" = 1\n\"gemm/none\" = 1\n"), IsEmpty());
  EXPECT_THAT(read("[gemm]\nsmall = 1\n"), IsEmpty());
}

TEST_F(HintsUsedTest, ThoseOfMistakesAreKeptAndCountForNothingElse) {
  const std::string name = hints_name(part_.tasks[0], "RL0206");
  EXPECT_EQ(name, "gemm/RL0206");
  write_hints_used(folder_.path(), {{name, 1}});
  EXPECT_THAT(read_hints_used(folder_.path(), part_), ElementsAre(Pair(name, 1)));
  EXPECT_THAT(read("\"gemm/RL0206\" = 2\n\"gemm/RL0007\" = 1\n\"none/RL0206\" = 1\nRL0206 = 1\n"),
              IsEmpty());
}

TEST_F(HintsUsedTest, OfAForgedFileOnlyWhatCanBeCounts) {
  EXPECT_THAT(read("gemm = 2\nother = 1\ngemv = 4\n"), ElementsAre(Pair("gemm", 2)));
  for (const char* forged :
       {"gemm = -1", "gemm = 0", "gemm = 1.5", "gemm = \"2\"", "gemm = [1]", "gemm = true",
        "gemm = 99999999999999999999", "gemm = ", "\xFF\xFE", "[gemm]\na = 1"}) {
    EXPECT_THAT(read(forged), IsEmpty()) << forged;
  }
  EXPECT_THAT(read("gemm = 2\n" + std::string(17U << 10, '#')), IsEmpty()) << "too large";
  EXPECT_THAT(read("a = " + std::string(8000, '[')), IsEmpty()) << "too deep";
}

TEST_F(HintsUsedTest, ALinkIsNotFollowed) {
  write_file_atomically(folder_.path() / "elsewhere", "gemm = 2\n");
  std::filesystem::create_symlink("elsewhere", folder_.path() / kHintsUsedFile);
  EXPECT_THAT(read_hints_used(folder_.path(), part_), IsEmpty());
}

}  // namespace
}  // namespace rooflab

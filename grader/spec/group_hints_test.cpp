#include "grader/spec/group_hints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/spec/files.h"

namespace rooflab {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class GroupHintsTest : public testing::Test {
 protected:
  GroupHintsTest() : folder_(testing::TempDir()) {
    TaskSpec task;
    task.id = "counters";
    task.groups = {{"gemm", {}, 2}, {"gemv", {}, 2}};
    part_.tasks = {task};
  }

  const std::vector<GroupSpec>& groups_after(const std::string& text) {
    const auto file = folder_.path() / kHintsFile;
    write_file_atomically(file, text);
    add_group_hints(file, part_);
    return part_.tasks.at(0).groups;
  }

  std::string error_of(const std::string& text) {
    try {
      groups_after(text);
    } catch (const SpecError& error) {
      const std::string message = error.what();
      return message.substr(message.find(kHintsFile));
    }
    return "no error";
  }

  TemporaryFolder folder_;
  PartSpec part_;
};

TEST_F(GroupHintsTest, AFunctionHasThreeAndAnotherNone) {
  const auto& groups = groups_after("[counters]\ngemv = ['what?', 'so', 'thus']\n");
  EXPECT_THAT(groups.at(0).hints, IsEmpty());
  EXPECT_THAT(groups.at(1).hints, ElementsAre("what?", "so", "thus"));
}

TEST_F(GroupHintsTest, AMistakeHasOne) {
  groups_after("[counters]\nRL0406 = 'a factor'\ngemv = ['what?', 'so', 'thus']\n");
  EXPECT_THAT(part_.tasks.at(0).mistake_hints,
              ElementsAre(testing::Pair(simgpu::Code("RL0406"), "a factor")));
}

TEST_F(GroupHintsTest, NoFileIsNoHints) {
  add_group_hints(folder_.path() / "none.toml", part_);
  EXPECT_THAT(part_.tasks.at(0).groups.at(0).hints, IsEmpty());
}

TEST_F(GroupHintsTest, ErrorsNameTheLineAndWhatToDo) {
  EXPECT_EQ(error_of("[counters]\ngemv = ['what?', 'so']\n"),
            "hints.toml:2: group gemv of task counters does not have 3 hints with a text; write a "
            "question, an approach and a near-answer");
  EXPECT_EQ(error_of("[counters]\n\nconv = ['what?', 'so', 'thus']\n"),
            "hints.toml:3: task counters has no group \"conv\"; name one of gemm, gemv");
  EXPECT_THAT(error_of("[counters]\nRL0007 = 'no code'\n"),
              testing::HasSubstr("has no group \"RL0007\""));
  EXPECT_EQ(error_of("[count]\n"),
            "hints.toml:1: hints: unknown key `count`; known keys are counters");
}

}  // namespace
}  // namespace rooflab

#include "grader/pipeline/implementations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace rooflab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

class ImplementationsTest : public testing::Test {
 protected:
  ImplementationsTest()
      : folder_(testing::TempDir() + "/rooflab_implementations_" +
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(folder_);
    installation_.build = folder_;
    part_.directory = "part7-test";
    task_.id = "scale_tests";
    task_.groups = {{.name = "right", .title = {}}, {.name = "edges", .title = {}}};
  }
  ~ImplementationsTest() override { std::filesystem::remove_all(folder_); }

  void install(bool hidden) const {
    const auto to = installation_.tested_library(part_.directory, task_.id, hidden);
    std::filesystem::create_directories(to.parent_path());
    std::filesystem::copy_file(ROOFLAB_TESTDATA "/libgrade_implementations.so", to);
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Implementation& one : find_implementations(installation_, part_, task_)) {
      names.push_back(one.entry + (one.hidden ? " hidden" : ""));
      EXPECT_TRUE(one.entry.starts_with(one.group + "_"));
    }
    return names;
  }

  std::filesystem::path folder_;
  Installation installation_;
  PartSpec part_;
  TaskSpec task_;
};

TEST_F(ImplementationsTest, AreTheNumberedEntriesOfALibraryByGroup) {
  install(false);
  EXPECT_THAT(names(), ElementsAre("right_1", "edges_2", "edges_10"))
      << "neither rooflab_entry_edges_x nor rooflab_entry_edges_of_tiles_1";
}

TEST_F(ImplementationsTest, OfAHiddenLibraryAreThereWhereThatIs) {
  install(false);
  install(true);
  EXPECT_THAT(names(), ElementsAre("right_1", "right_1 hidden", "edges_2", "edges_10",
                                   "edges_2 hidden", "edges_10 hidden"));
}

TEST_F(ImplementationsTest, ThatAreMissingOrBrokenAreAFaultOfTheInstallation) {
  EXPECT_THAT([this] { names(); }, ThrowsMessage<InstallationError>(HasSubstr("not there")));
  install(false);
  task_.groups.push_back({.name = "depth", .title = {}});
  EXPECT_THAT([this] { names(); },
              ThrowsMessage<InstallationError>(HasSubstr("no ROOFLAB_ENTRY(depth_1)")));
  std::ofstream(installation_.tested_library(part_.directory, task_.id, false)) << "no library";
  EXPECT_THAT([this] { names(); },
              ThrowsMessage<InstallationError>(HasSubstr("no library of implementations")));
}

}  // namespace
}  // namespace rooflab

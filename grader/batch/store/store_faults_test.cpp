#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <utility>

#include "grader/batch/store/schema.h"
#include "grader/batch/store/sqlite_faults_testing.h"
#include "grader/batch/store/store.h"
#include "grader/spec/files.h"

/// A store whose disk is full, or fails, at every moment of a write.
namespace rooflab {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kEvidence = "all that is known of it";

class StoreFaults : public testing::Test {
 protected:
  StoreFaults() : folder_(std::filesystem::temp_directory_path()) {
    Store store(begun());
    store.put_student({.key = "ada", .name = "Ada Lovelace"}, 0);
    store.put_submission({.id = "s", .student = "ada", .called = "ada.zip"});
    store.assign_grading(
        "s", {.part = 1, .source = "f00d", .device = "sim:a100", .seed = 7, .versions = "1"},
        false);
    grading_ = store.pending().at(0).name;
  }

  std::filesystem::path begun() const { return folder_.path() / "begun.sqlite"; }
  std::filesystem::path file() const { return folder_.path() / "batch.sqlite"; }

  static GradedResult graded() {
    GradedResult one;
    TaskResult task;
    task.score = 4;
    task.max_score = 10;
    one.result.tasks = {task};
    one.evidence = kEvidence;
    one.questions = {{.item = "why", .max_points = 4}};
    one.revealed = std::string(20'000, 'r');  // some pages
    return one;
  }

  /// Puts the result in; what that complains of, nothing where it does not.
  std::string put(Store& store) const {
    try {
      store.put_result(grading_, graded(), 100);
    } catch (const DatabaseError& error) {
      return error.what();
    }
    return {};
  }

  bool is_graded(Store& store) const {
    return store.grading(grading_)->state == GradingState::graded;
  }

  /// All of the result is there, or nothing of it.
  void expect_whole_or_nothing(Store& store) const {
    const bool there = is_graded(store);
    EXPECT_EQ(store.evidence(grading_), there ? kEvidence : "");
    EXPECT_EQ(store.points_of(grading_).has_value(), there);
    EXPECT_EQ(store.hand_questions(grading_).has_value(), there);
    EXPECT_EQ(store.setting("gpu").has_value(), there);
  }

  /// Fails from the `first` call on. @return whether there were so many
  bool try_to_put(const char* call, int error, int first) const {
    std::filesystem::copy_file(begun(), file(), std::filesystem::copy_options::overwrite_existing);
    std::string said;
    bool reached = false;
    {
      Store store(file());
      {
        const SqliteFaults faults(call, error, first);
        said = put(store);
        reached = faults.reached();
      }
      // Of the same process, which may go on with it.
      expect_whole_or_nothing(store);
      EXPECT_TRUE(is_graded(store) || !said.empty());
    }
    if (!said.empty()) {
      EXPECT_THAT(said, HasSubstr("the batch's database: "));
      EXPECT_THAT(said, HasSubstr(error == ENOSPC ? "free some space" : "check the disk"));
      EXPECT_THAT(said, HasSubstr("run the same command again"));
    }
    Store again(file());
    expect_whole_or_nothing(again);
    EXPECT_THAT(put(again), IsEmpty());
    EXPECT_TRUE(is_graded(again));
    return reached;
  }

  TemporaryFolder folder_;
  std::string grading_;
};

TEST_F(StoreFaults, LoseAndHalveNothingWhicheverCallFails) {
  for (const auto& [call, error] : {std::pair{"write", ENOSPC},
                                    {"write", EIO},
                                    {"open", ENOSPC},
                                    {"open", EACCES},
                                    {"unlink", EIO},
                                    {"ftruncate", EIO}}) {
    int first = 0;
    while (try_to_put(call, error, first)) ++first;
    EXPECT_GE(first, std::string_view(call) == "write" ? 5 : 0) << "SQLite writes otherwise";
    ASSERT_FALSE(HasFailure()) << call << ", " << std::strerror(error) << ", from " << first;
  }
}

TEST_F(StoreFaults, ThatAreSignalsCostNothing) {
  Store store(begun());
  const SqliteFaults faults("write", EINTR, 0, 3);
  EXPECT_THAT(put(store), IsEmpty());
  EXPECT_TRUE(faults.reached());
  EXPECT_TRUE(is_graded(store));
}

int schema_of(const std::filesystem::path& file) {
  Database database(file);
  Statement statement(database, "PRAGMA user_version");
  statement.step();
  return static_cast<int>(statement.integer());
}

TEST_F(StoreFaults, LeaveADatabaseThatIsBroughtUpToDateAsItWas) {
  const auto old = folder_.path() / "old.sqlite";
  {
    Database database(old);
    migrate_to(database, 5);
  }
  for (int first = 0;; ++first) {
    std::filesystem::copy_file(old, file(), std::filesystem::copy_options::overwrite_existing);
    bool reached = false, opened = false;
    {
      const SqliteFaults faults("write", ENOSPC, first);
      try {
        const Store store(file());
        opened = true;
      } catch (const DatabaseError& error) {
        EXPECT_THAT(error.what(), HasSubstr("free some space"));
      }
      reached = faults.reached();
    }
    EXPECT_EQ(schema_of(file()), opened ? newest_schema() : 5);
    EXPECT_NO_THROW(Store{file()});
    EXPECT_EQ(schema_of(file()), newest_schema());
    if (!reached) return;
  }
}

}  // namespace
}  // namespace rooflab

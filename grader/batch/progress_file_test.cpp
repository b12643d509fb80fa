#include "grader/batch/progress_file.h"

#include "grader/batch/class_fixture.h"

namespace rooflab {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

TEST(ProgressWords, SayHowFarABatchIsAndAboutHowLongItStillTakes) {
  EXPECT_EQ(progress_words({.stage = "grading", .done = 12, .total = 33, .left_s = 250}),
            "grading, 12 of 33, about 4 min left");
  EXPECT_EQ(progress_words({.stage = "grading", .done = 0, .total = 33, .left_s = {}}),
            "grading, 0 of 33");
  EXPECT_EQ(progress_words({.stage = "grading", .done = 33, .total = 33, .left_s = 0}),
            "grading, 33 of 33");
  EXPECT_THAT(progress_words({.stage = "grading", .done = 1, .total = 9, .left_s = 7300}),
              HasSubstr("2 h 02 min"));
}

/// What a batch's folder says while the batch goes on.
class FolderReader : public BatchListener {
 public:
  explicit FolderReader(std::filesystem::path folder) : folder_(std::move(folder)) {}
  void say(const std::string& /*line*/) override {}
  void progress(const BatchProgress& /*progress*/) override {
    said.push_back(progress_in(folder_));
  }
  bool stop() override { return false; }

  std::vector<std::string> said;

 private:
  std::filesystem::path folder_;
};

TEST_F(ClassFixture, ABatchsFolderSaysHowFarItIsAndNothingOnceItHasEnded) {
  for (const char* who : {"ada", "bob", "cem"}) hand_in(who, std::string("x") + who);
  FolderReader reader(out());
  {
    Batch batch(request());
    batch.run(course_, work(), executor_, reader);
  }
  EXPECT_THAT(reader.said,
              AllOf(Contains(StartsWith("taking in, ")), Contains(StartsWith("grading, 2 of 3"))));
  EXPECT_EQ(progress_in(out()), "");
  EXPECT_FALSE(std::filesystem::exists(out() / kProgressFile));
}

TEST_F(ClassFixture, WhatAKilledBatchLeftIsNoBatchAtWork) {
  std::filesystem::create_directories(out());
  write_file_atomically(out() / kProgressFile, "grading, 1 of 3\n");
  EXPECT_EQ(progress_in(out()), "");
  const BatchFolder held(out());
  EXPECT_EQ(progress_in(out()), "grading, 1 of 3");
}

}  // namespace
}  // namespace rooflab

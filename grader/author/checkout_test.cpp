#include "grader/author/checkout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/spec/files.h"

namespace rooflab {
namespace {

class CheckoutTest : public testing::Test {
 protected:
  CheckoutTest() : folder_(testing::TempDir()) { write("labs/part.toml", "points = 1\n"); }

  std::filesystem::path root() const { return folder_.path(); }
  void write(const std::string& name, const std::string& text) const {
    write_file_atomically(root() / name, text);
  }
  void commit() const {
    git(root(), {"init", "--quiet"});
    git(root(), {"add", "labs"});
    git(root(), {"-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "--quiet",
                 "--message", "a course"});
  }

  TemporaryFolder folder_;
};

TEST_F(CheckoutTest, IsKnownByItsCommit) {
  commit();
  EXPECT_THAT(commit_of(root()), testing::MatchesRegex("[0-9a-f]{40}"));
  EXPECT_EQ(commit_of(root() / "labs"), commit_of(root()));
}

TEST_F(CheckoutTest, SaysWhereTrackedFilesDifferFromIt) {
  commit();
  const std::string clean = commit_of(root());
  write("starter/mine.cu", "// nobody tracks it\n");
  EXPECT_EQ(commit_of(root()), clean);
  write("labs/part.toml", "points = 2\n");
  EXPECT_EQ(commit_of(root()), clean + ", changed");
}

TEST_F(CheckoutTest, WithoutGitsKnowledgeIsUnknown) {
  write(".git", "gitdir: nowhere\n");  // no repository above the folder is asked either
  EXPECT_EQ(commit_of(root()), "");
}

TEST_F(CheckoutTest, OfAKitIsTheCommitThatItWasMadeFrom) {
  commit();  // its student keeps it in a repository
  write("SHA256SUMS", "");
  write("VERSION",
        "Rooflab 0.1.0, the student kit\ncourse    Efficient AI, kit 3f2a\ncommit    77ab\n");
  EXPECT_EQ(commit_of(root()), "77ab");
  write("VERSION", "course    Efficient AI, kit 3f2a\n");
  EXPECT_EQ(commit_of(root()), "") << "and never a commit of the student's";
}

}  // namespace
}  // namespace rooflab

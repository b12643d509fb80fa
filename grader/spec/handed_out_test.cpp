#include "grader/spec/handed_out.h"

#include <gtest/gtest.h>

#include "grader/spec/files.h"

namespace rooflab {
namespace {

TEST(HandedOut, NamesTheCopyThatIsThere) {
  const TemporaryFolder root(testing::TempDir());
  const PartSpec part{.number = 1,
                      .title = "Test",
                      .directory = "part1-test",
                      .root = root.path() / "labs" / "part1-test",
                      .tasks = {}};
  EXPECT_EQ(where_handed_out(part, "a.cu"), "the course's kit");
  write_file_atomically(root.path() / "starter/part1-test/a.cu", "");
  EXPECT_EQ(where_handed_out(part, "a.cu"), "starter/part1-test/a.cu") << "of a checkout";
  EXPECT_EQ(where_handed_out(part, "b.cu"), "the course's kit");
  write_file_atomically(root.path() / "originals/starter/part1-test/a.cu", "");
  EXPECT_EQ(where_handed_out(part, "a.cu"), "originals/starter/part1-test/a.cu") << "of a kit";
  EXPECT_EQ(where_handed_out(part), "originals/starter/part1-test/");
}

}  // namespace
}  // namespace rooflab

#include "toolkit/workspace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace rooflab {
namespace {

using testing::HasSubstr;

/// Memory that nobody touches: a workspace only counts, so host memory serves.
class WorkspaceTest : public testing::Test {
 protected:
  static constexpr std::size_t kSize = 1024;
  alignas(256) char memory_[kSize] = {};
  Workspace workspace_{memory_, kSize};

  std::size_t offset(const void* piece) const { return static_cast<const char*>(piece) - memory_; }
};

/// What the call throws as an E says.
template <typename E>
std::string error_of(const auto& call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(WorkspaceTest, HandsOutPiecesFrontToBackEachAtAMultipleOf256Bytes) {
  EXPECT_EQ(offset(workspace_.take<float>(3)), 0u);  // 12 bytes
  EXPECT_EQ(workspace_.used(), 12u);
  EXPECT_EQ(offset(workspace_.take<char>(257)), 256u);
  EXPECT_EQ(workspace_.used(), 513u);
  EXPECT_EQ(offset(workspace_.take<double>(1)), 768u);
  EXPECT_EQ(workspace_.used(), 776u);
}

TEST_F(WorkspaceTest, GivesAllOfItsMemoryAway) {
  EXPECT_EQ(offset(workspace_.take<float>(kSize / sizeof(float))), 0u);
  EXPECT_EQ(workspace_.used(), kSize);
}

TEST_F(WorkspaceTest, CountsNothingForAnEmptyPiece) {
  EXPECT_EQ(offset(workspace_.take<float>(0)), 0u);
  EXPECT_EQ(offset(workspace_.take<float>(0)), 0u);
  EXPECT_EQ(workspace_.used(), 0u);
  workspace_.take<char>(kSize);
  EXPECT_EQ(offset(workspace_.take<float>(0)), kSize);
}

TEST_F(WorkspaceTest, SaysWhatIsInUseWhenThereIsNoRoom) {
  workspace_.take<float>(100);  // 400 bytes: the next piece begins at 512
  EXPECT_EQ(error_of<std::length_error>([&] { workspace_.take<float>(129); }),
            "the workspace has 1024 bytes, of which 400 are in use: there is no room for 129 "
            "elements of 4 bytes more");
  EXPECT_EQ(workspace_.used(), 400u) << "what failed took nothing";
  EXPECT_EQ(offset(workspace_.take<float>(128)), 512u);
}

TEST_F(WorkspaceTest, HasNoRoomWhenOnlyAlignmentIsLacking) {
  workspace_.take<char>(769);  // 255 bytes are left, and none of them at a multiple of 256
  EXPECT_THROW(workspace_.take<char>(1), std::length_error);
}

TEST_F(WorkspaceTest, SeesThroughSizesThatOverflow) {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  EXPECT_THROW(workspace_.take<float>(kMost), std::length_error);
  EXPECT_THROW(workspace_.take<float>(kMost / sizeof(float) + 2), std::length_error);  // 4 bytes
  EXPECT_EQ(workspace_.used(), 0u);
}

TEST_F(WorkspaceTest, TakesBackWhatAScopeTook) {
  workspace_.take<char>(10);
  {
    const Workspace::Scope outer(workspace_);
    const float* first = workspace_.take<float>(64);
    {
      const Workspace::Scope inner(workspace_);
      EXPECT_EQ(offset(workspace_.take<float>(64)), 512u);
    }
    EXPECT_EQ(offset(workspace_.take<float>(64)), 512u) << "the inner scope gave it back";
    EXPECT_EQ(offset(first), 256u);
  }
  EXPECT_EQ(workspace_.used(), 10u);
}

TEST_F(WorkspaceTest, TakesBackWhatAScopeTookEvenWhenThereWasNoRoom) {
  EXPECT_THROW(
      {
        const Workspace::Scope scope(workspace_);
        workspace_.take<char>(kSize);
        workspace_.take<char>(1);
      },
      std::length_error);
  EXPECT_EQ(workspace_.used(), 0u);
}

TEST_F(WorkspaceTest, RefusesMemoryThatIsNotAligned) {
  const std::string error =
      error_of<std::invalid_argument>([&] { Workspace workspace(memory_ + 16, kSize - 16); });
  EXPECT_THAT(error, HasSubstr("multiple of 256 bytes"));
  EXPECT_THAT(error, HasSubstr("16 bytes behind one"));
  EXPECT_THAT(error, HasSubstr("cudaMalloc"));
}

TEST_F(WorkspaceTest, RefusesMemoryThatIsNotThere) {
  EXPECT_THAT(error_of<std::invalid_argument>([] { Workspace workspace(nullptr, kSize); }),
              HasSubstr("a null pointer"));
  Workspace empty(nullptr, 0);
  EXPECT_THROW(empty.take<char>(1), std::length_error);
}

}  // namespace
}  // namespace rooflab

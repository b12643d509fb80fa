#include "simgpu/exec/warp_roles.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

namespace simgpu {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

/// A block of threads, told by how often each warp enters each basic block.
class Block {
 public:
  explicit Block(const std::vector<std::vector<std::uint64_t>>& by_warp)
      : warps_(by_warp.size()), slept_ns_(by_warp.size()) {
    for (std::size_t block = 0; block < by_warp.front().size(); ++block) {
      for (const auto& warp : by_warp) entered_.push_back(warp[block]);
    }
  }
  Block& loads(std::size_t warp, std::uint32_t pc, LoadsOfWarp counts) {
    if (loads_.empty()) loads_.push_back({.pc = pc});
    loads_.front().by_warp[warp] = counts;
    return *this;
  }
  BlockOfWarps told() const { return {warps_, entered_, loads_, slept_ns_}; }

 private:
  std::size_t warps_;
  std::vector<std::uint64_t> entered_;
  std::vector<LoadsOfWarps> loads_;
  std::vector<std::uint64_t> slept_ns_;
};

std::vector<std::vector<std::uint64_t>> entered_by_role(const WarpRoles& all) {
  std::vector<std::vector<std::uint64_t>> entered;
  for (const WarpRole& role : all.roles()) entered.push_back(role.entered);
  return entered;
}

TEST(WarpRoles, AreOfWarpsThatEnterTheSameBasicBlocks) {
  WarpRoles all;
  all.add(Block({{1, 10, 0}, {1, 0, 5}, {1, 0, 7}}).told());
  all.add(Block({{1, 0, 5}, {1, 20, 0}, {1, 0, 5}}).told());
  EXPECT_THAT(entered_by_role(all),
              UnorderedElementsAre(ElementsAre(2, 30, 0), ElementsAre(2, 0, 12)))
      << "of the warps with most in their blocks, whichever they are";
  ASSERT_EQ(all.mixes().size(), 1U);
  EXPECT_EQ(all.mixes().front().blocks, 2U);
  EXPECT_EQ(all.mixes().front().keys.size(), 2U);
}

TEST(WarpRoles, HaveTheLoadsOfTheWarpThatWaitsMost) {
  WarpRoles all;
  all.add(Block({{4}, {4}}).loads(0, 3, {4, 4, 0}).loads(1, 3, {4, 0, 2}).told());
  const LoadCounts loads = all.roles().front().loads.at(3);
  EXPECT_EQ(loads.requests, 4U);
  EXPECT_EQ(loads.beyond_l1, 4U);
  EXPECT_EQ(loads.of_recent, 2U);
}

TEST(WarpRoles, OfBlocksThatDifferAreToldApart) {
  WarpRoles some, all;
  some.add(Block({{1, 0}}).told());
  all.add(Block({{0, 3}}).told());
  all.add_times(some, 5);
  EXPECT_THAT(entered_by_role(all), UnorderedElementsAre(ElementsAre(0, 3), ElementsAre(5, 0)));
  std::vector<std::uint64_t> blocks;
  for (const WarpRoles::Mix& mix : all.mixes()) blocks.push_back(mix.blocks);
  EXPECT_THAT(blocks, UnorderedElementsAre(1, 5));
}

/// A block whose one warp enters those basic blocks of which the number has a bit.
std::vector<std::uint64_t> bits_of(std::uint64_t number) {
  std::vector<std::uint64_t> bits;
  for (int bit = 0; bit < 6; ++bit) bits.push_back(number >> bit & 1U);
  return bits;
}

TEST(WarpRoles, BecomeOneWhereThereAreTooMany) {
  WarpRoles all;
  for (std::uint64_t number = 1; number < 64; ++number) all.add(Block({bits_of(number)}).told());
  EXPECT_THAT(entered_by_role(all), ElementsAre(ElementsAre(32, 32, 32, 32, 32, 32)));
  ASSERT_EQ(all.mixes().size(), 1U);
  EXPECT_EQ(all.mixes().front().blocks, 63U);
}

TEST(WarpRoles, AreTheSameInWhicheverOrderPartsAreAdded) {
  const auto part = [](std::uint64_t first, std::uint64_t last) {
    WarpRoles roles;
    for (std::uint64_t number = first; number < last; ++number) {
      roles.add(Block({bits_of(number)}).told());
    }
    return roles;
  };
  WarpRoles forwards = part(1, 12), backwards = part(12, 24);
  forwards.add_times(part(12, 24), 1);
  backwards.add_times(part(1, 12), 1);
  EXPECT_EQ(entered_by_role(forwards), entered_by_role(backwards));
  EXPECT_EQ(forwards.roles().size(), 1U) << "too many together";
}

}  // namespace
}  // namespace simgpu

#include "simgpu/sass/ptx_counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace simgpu::sass {
namespace {

/// A kernel's instructions and how often they were executed, block by block.
class Executed {
 public:
  /// A basic block with an instruction for each line. @param leads_to first instructions
  Executed& block(std::vector<std::uint32_t> lines, std::uint64_t threads,
                  std::vector<std::uint32_t> leads_to) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      InstructionInfo& info = program_.emplace_back();
      info.cls = InstructionClass::fp32;
      info.ptx_line = lines[i];
      info.starts_block = i == 0;
      if (i == 0) info.leads_to = leads_to;
      counts_.push_back({.warps = (threads + 31) / 32, .threads = threads});
    }
    return *this;
  }
  /// The last instruction is executed for some lanes only.
  Executed& guarded_for(std::uint64_t threads) {
    program_.back().guard = 1;
    counts_.back().threads = threads;
    return *this;
  }
  PtxCounts counts() const { return count_lines(program_, counts_); }

 private:
  std::vector<InstructionInfo> program_;
  std::vector<ExecutionCount> counts_;
};

TEST(PtxCounts, AreOfLines) {
  const PtxCounts counts = Executed().block({3, 4}, 64, {2}).counts();
  EXPECT_EQ(counts.threads, 64);
  EXPECT_EQ(counts.lines.at(4).threads, 64);
  EXPECT_EQ(counts.lines.at(4).block_warps, 2);
  EXPECT_FALSE(counts.lines.at(4).is_guarded);
}

TEST(PtxCounts, KnowForHowManyThreadsAGuardHolds) {
  const PtxCounts counts = Executed().block({3, 4}, 64, {2}).guarded_for(10).counts();
  EXPECT_EQ(counts.lines.at(4).threads, 10);
  EXPECT_EQ(counts.lines.at(4).block_threads, 64);
  EXPECT_TRUE(counts.lines.at(4).is_guarded);
}

TEST(PtxCounts, AddUpCopiesThatInliningHasMade) {
  const PtxCounts counts =
      Executed().block({7}, 64, {1}).block({9}, 64, {2}).block({7}, 32, {3}).counts();
  EXPECT_EQ(counts.lines.at(7).threads, 96);
}

TEST(PtxCounts, CountALineOnceOfWhichLoweringMakesSeveral) {
  EXPECT_EQ(Executed().block({7, 7, 7}, 64, {3}).counts().lines.at(7).threads, 64);
}

TEST(PtxCounts, KnowHowOftenLoopsTurn) {
  const PtxCounts counts = Executed()
                               .block({1}, 64, {1, 3})   // 0: some threads pass by the loop
                               .block({2}, 48, {2})      // 1: its entry
                               .block({3}, 480, {2, 3})  // 2
                               .block({4}, 64, {4})      // 3
                               .counts();
  EXPECT_EQ(counts.lines.at(3).loop.entries, 48);
  EXPECT_EQ(counts.lines.at(3).loop.turns, 10);
  EXPECT_EQ(counts.lines.at(4).loop.turns, 0);
}

TEST(PtxCounts, TellInnerLoopsFromOuterOnes) {
  const PtxCounts counts = Executed()
                               .block({1}, 32, {1})
                               .block({2}, 32 * 4, {2})         // the outer loop
                               .block({3}, 32 * 4 * 8, {2, 3})  // the inner one
                               .block({4}, 32 * 4, {1, 4})
                               .block({5}, 32, {5})
                               .counts();
  EXPECT_EQ(counts.lines.at(3).loop.turns, 8);
  EXPECT_EQ(counts.lines.at(3).loop.entries, 32 * 4);
  EXPECT_EQ(counts.lines.at(2).loop.turns, 4);
  EXPECT_EQ(counts.lines.at(4).loop.turns, 4);
  EXPECT_NE(counts.lines.at(3).loop.number, counts.lines.at(2).loop.number);
}

TEST(PtxCounts, AreNoneWithoutACountForEachInstruction) {
  const std::vector<InstructionInfo> program(3);
  EXPECT_TRUE(count_lines(program, {}).lines.empty());
}

}  // namespace
}  // namespace simgpu::sass

#include <bit>
#include <cstdint>
#include <numeric>

#include "simgpu/provenance/provenance_testing.h"

namespace simgpu::testing {
namespace {

class Flows : public Followed {
 protected:
  std::vector<std::uint16_t> halves(std::size_t count) {
    return std::vector<std::uint16_t>(count, 0x3C00);
  }
};

TEST_F(Flows, ACopyHasItsElement) {
  const auto in = floats("in", 64), out = floats("out", 64);
  run("copy", {.grid = {2, 1, 1}}, out, in);
  EXPECT_EQ(sources(out, 37), (Elements{{{"in", 37}, 1}}));
  const MemoryOrigin found = origin(out, 37);
  EXPECT_EQ(found.stores, 1U);
  EXPECT_EQ(found.block, (Dim3{1, 0, 0}));
  EXPECT_EQ(found.thread, (Dim3{5, 0, 0}));
  ASSERT_EQ(found.reads.size(), 1U);
  EXPECT_TRUE(found.reads[0].file.ends_with("flows.cu")) << found.reads[0].file;
  EXPECT_EQ(found.reads[0].line, 12U);
  EXPECT_EQ(found.line, 12U);
  EXPECT_EQ(found.reads[0].thread, (Dim3{5, 0, 0}));
}

TEST_F(Flows, WhatNobodyStoredHasNothing) {
  const auto in = floats("in", 64), out = floats("out", 64);
  run("copy", {.grid = {1, 1, 1}}, out, in);
  EXPECT_EQ(origin(out, 40), MemoryOrigin{});
}

TEST_F(Flows, AnUpdateHasWhatWasThereBefore) {
  const auto x = floats("x", 32), y = floats("y", 32);
  run("saxpy", {}, y, x, 2.0F);
  EXPECT_EQ(sources(y, 3), (Elements{{{"x", 3}, 1}, {{"y", 3}, 1}}));
}

TEST_F(Flows, ATransposedReadHasTheOtherPlace) {
  const auto in = floats("in", 24), out = floats("out", 24);
  run("transpose", {}, out, in, 4, 6);
  EXPECT_EQ(sources(out, 9), (Elements{{{"in", 1 * 6 + 2}, 1}}));
}

TEST_F(Flows, AnIndexIsNoPartOfTheValue) {
  const auto in = floats("in", 32), out = floats("out", 32);
  std::vector<int> order(32);
  std::iota(order.rbegin(), order.rend(), 0);
  const auto index = array("index", order);
  run("gather", {}, out, in, index);
  EXPECT_EQ(sources(out, 4), (Elements{{{"in", 27}, 1}}));
}

TEST_F(Flows, ElementsThatALoopReadsTwiceCountTwice) {
  const auto in = floats("in", 5), out = floats("out", 32);
  run("read_twice", {}, out, in, 5);
  Elements expected;
  for (std::size_t i = 0; i < 5; ++i) expected[{"in", i}] = 2;
  EXPECT_EQ(sources(out, 9), expected);
}

TEST_F(Flows, AValueThatIsUsedTwiceWasReadOnce) {
  const auto in = floats("in", 32), out = floats("out", 32);
  run("square", {}, out, in);
  EXPECT_EQ(sources(out, 9), (Elements{{{"in", 9}, 1}}));
}

TEST_F(Flows, OfAChoiceOnlyWhatIsChosenCounts) {
  const auto a = array("a", std::vector<float>(32, 1)), b = array("b", std::vector<float>(32, 2));
  const auto out = floats("out", 32);
  run("larger_chosen", {}, out, a, b);
  const Elements chosen = sources(out, 3);
  // nvcc may make a max of it, which computes with both.
  EXPECT_TRUE(chosen.contains({"b", 3}));
  run("larger_computed", {}, out, a, b);
  EXPECT_EQ(sources(out, 3), (Elements{{{"a", 3}, 1}, {{"b", 3}, 1}}));
}

TEST_F(Flows, AConditionIsNoPartOfTheValue) {
  const auto in = floats("in", 32), out = floats("out", 32);
  std::vector<float> signs(32, 1);
  signs[4] = -1;
  const auto gate = array("gate", signs);
  run("positive_only", {}, out, in, gate);
  EXPECT_EQ(sources(out, 3), (Elements{{{"in", 3}, 1}}));
  EXPECT_EQ(sources(out, 4), Elements{});
}

TEST_F(Flows, AProductThroughSharedMemoryHasItsRowAndColumn) {
  constexpr std::size_t kSize = 16;
  const auto a = floats("a", kSize * kSize), b = floats("b", kSize * kSize);
  const auto c = floats("c", kSize * kSize);
  run("tiled", {.grid = {2, 2, 1}, .block = {8, 8, 1}}, c, a, b, static_cast<int>(kSize));
  Elements expected;
  for (std::size_t k = 0; k < kSize; ++k) {
    expected[{"a", 11 * kSize + k}] = 1;
    expected[{"b", k * kSize + 6}] = 1;
  }
  EXPECT_EQ(sources(c, 11 * kSize + 6), expected);
}

TEST_F(Flows, AWarpsSumHasAllOfItsLanes) {
  const auto in = floats("in", 64), out = floats("out", 2);
  run("warp_sums", {.grid = {2, 1, 1}}, out, in);
  Elements expected;
  for (std::size_t i = 32; i < 64; ++i) expected[{"in", i}] = 1;
  EXPECT_EQ(sources(out, 1), expected);
}

TEST_F(Flows, ASegmentsSumHasItsSegment) {
  const auto in = floats("in", 32), out = floats("out", 32);
  run("segment_sums", {}, out, in);
  Elements expected;
  for (std::size_t i = 8; i < 16; ++i) expected[{"in", i}] = 1;
  EXPECT_EQ(sources(out, 13), expected);
}

TEST_F(Flows, AtomicsAddUpFromAllBlocks) {
  const auto in = floats("in", 128), out = floats("out", 1);
  provenance_->cleared(out, sizeof(float));
  run("atomic_sum", {.grid = {4, 1, 1}}, out, in);
  Elements expected;
  for (std::size_t i = 0; i < 128; ++i) expected[{"in", i}] = 1;
  EXPECT_EQ(sources(out, 0), expected);
  EXPECT_EQ(origin(out, 0).stores, 129U);
}

TEST_F(Flows, AtomicsInSharedMemoryKeepTheirBinsApart) {
  std::vector<int> numbers(32);
  for (int i = 0; i < 32; ++i) numbers[static_cast<std::size_t>(i)] = i % 4;
  const auto bins = array("bins", numbers), weights = array("weights", std::vector<int>(32, 1));
  const auto counts = array("counts", std::vector<int>(4));
  run("atomic_histogram", {}, counts, weights, bins);
  Elements expected{{{"counts", 2}, 1}};
  for (std::size_t i = 2; i < 32; i += 4) expected[{"weights", i}] = 1;
  EXPECT_EQ(sources(counts, 2), expected);
}

TEST_F(Flows, SwapsThatFailLeaveWhatIsThere) {
  std::vector<float> values(32);
  for (std::size_t i = 0; i < 32; ++i) values[i] = static_cast<float>(i == 7 ? 100 : i);
  const auto in = array("in", values), out = array("out", std::vector<float>(1, -1));
  run("largest_by_swaps", {}, out, in);
  EXPECT_EQ(sources(out, 0), (Elements{{{"in", 7}, 1}}));
}

TEST_F(Flows, ExchangesHandOnWhatWasThere) {
  const auto in = array("in", std::vector<int>(32, 3)), slot = array("slot", std::vector<int>(1));
  const auto out = array("out", std::vector<int>(32));
  run("exchange", {}, out, slot, in);
  EXPECT_EQ(sources(out, 0), (Elements{{{"slot", 0}, 1}}));
  EXPECT_EQ(sources(out, 5), (Elements{{{"in", 4}, 1}}));
  EXPECT_EQ(sources(slot, 0), (Elements{{{"in", 31}, 1}}));
}

TEST_F(Flows, PackedHalvesStayApart) {
  const auto x = array("x", halves(64)), y = array("y", halves(64)), out = array("out", halves(64));
  run("half_pairs", {}, out, x, y);
  EXPECT_EQ(sources(out, 10), (Elements{{{"x", 10}, 1}, {{"y", 10}, 1}}));
  EXPECT_EQ(sources(out, 11), (Elements{{{"x", 11}, 1}, {{"y", 11}, 1}}));
  EXPECT_EQ(origin(out, 11).stores, 1U);
  run("halves_swapped", {}, out, x);
  EXPECT_EQ(sources(out, 10), (Elements{{{"x", 11}, 1}}));
}

TEST_F(Flows, SingleHalvesStayApartInMemory) {
  const auto x = array("x", halves(32)), out = array("out", halves(32));
  run("halves_one_by_one", {}, out, x);
  EXPECT_EQ(sources(out, 6), (Elements{{{"x", 6}, 1}, {{"x", 7}, 1}}));
  EXPECT_EQ(origin(out, 6).stores, 1U);
  EXPECT_EQ(origin(out, 6).thread, (Dim3{6, 0, 0}));
}

TEST_F(Flows, HalvesOfVectorsAreToldApart) {
  const auto x = array("x", halves(256)), out = floats("out", 256);
  run("halves_widened", {}, out, x);
  for (const std::size_t i : {0U, 77U, 130U, 255U}) {
    EXPECT_EQ(sources(out, i), (Elements{{{"x", i}, 1}})) << i;
  }
}

TEST_F(Flows, BytesOfWordsAreToldApart) {
  const auto packed = array("packed", std::vector<std::uint8_t>(128, 7));
  const auto scale = floats("scale", 1), out = floats("out", 128);
  run("bytes_unpacked", {}, out, packed, scale);
  EXPECT_EQ(sources(out, 42), (Elements{{{"packed", 42}, 1}, {{"scale", 0}, 1}}));
  const auto words = array("words", std::vector<std::uint8_t>(128));
  run("bytes_packed", {}, words, packed);
  EXPECT_EQ(sources(words, 42), (Elements{{{"packed", 42}, 1}}));
}

TEST_F(Flows, ElementsOfVectorsAreToldApart) {
  const auto in = floats("in", 128), out = floats("out", 128);
  run("vectors", {}, out, in);
  EXPECT_EQ(sources(out, 40), (Elements{{{"in", 43}, 1}}));
  EXPECT_EQ(sources(out, 42), (Elements{{{"in", 40}, 1}, {{"in", 41}, 1}}));
  EXPECT_EQ(sources(out, 43), Elements{});
}

TEST_F(Flows, DoublesAreReadOnceThoughTheirHalvesAreExchanged) {
  const auto in = array("in", std::vector<double>(32, 1)),
             out = array("out", std::vector<double>(32));
  run("doubles", {}, out, in);
  EXPECT_EQ(sources(out, 5), (Elements{{{"in", 5}, 1}, {{"in", 6}, 1}}));
  EXPECT_EQ(origin(out, 5).stores, 1U);
}

TEST_F(Flows, WmmaHasItsRowAndColumn) {
  constexpr std::size_t kDepth = 32;
  const auto a = array("a", halves(16 * kDepth)), b = array("b", halves(16 * kDepth));
  const auto c = floats("c", 256);
  run("wmma_product", {}, c, a, b, static_cast<int>(kDepth));
  const std::vector<std::pair<unsigned, unsigned>> places{{0, 0}, {5, 3}, {8, 14}, {15, 9}};
  for (const auto& [row, column] : places) {
    Elements expected;
    for (std::size_t k = 0; k < kDepth; ++k) {
      expected[{"a", row * kDepth + k}] = 1;
      expected[{"b", column * kDepth + k}] = 1;
    }
    EXPECT_EQ(sources(c, row * 16 + column), expected) << row << ", " << column;
  }
}

TEST_F(Flows, MmaHasItsRowAndColumnThroughLdmatrix) {
  const auto a = array("a", halves(16 * 16)), b = array("b", halves(16 * 8));
  const auto c = floats("c", 16 * 8);
  run("mma_product", {}, c, a, b);
  for (std::size_t row = 0; row < 16; ++row) {
    for (std::size_t column = 0; column < 8; ++column) {
      Elements expected;
      for (std::size_t k = 0; k < 16; ++k) {
        expected[{"a", row * 16 + k}] = 1;
        expected[{"b", k * 8 + column}] = 1;
      }
      EXPECT_EQ(sources(c, row * 8 + column), expected) << row << ", " << column;
    }
  }
}

TEST_F(Flows, AsynchronousCopiesBringTheirSource) {
  const auto in = floats("in", 128), out = floats("out", 32);
  run("copied_asynchronously", {}, out, in);
  EXPECT_EQ(sources(out, 5), (Elements{{{"in", 26 * 4 + 1}, 1}}));
}

TEST_F(Flows, CopiesThatNobodyAwaitedHaveNotCome) {
  const auto in = floats("in", 32), out = floats("out", 32);
  run("not_awaited", {.checkers = false}, out, in);
  EXPECT_EQ(sources(out, 5), Elements{});
}

TEST_F(Flows, CallsPassWhatTheyAreGiven) {
  const auto in = floats("in", 33), out = floats("out", 32);
  run("recursive", {}, out, in);
  EXPECT_EQ(sources(out, 5), (Elements{{{"in", 5}, 1}, {{"in", 6}, 1}}));
}

TEST_F(Flows, FunctionsThatAreNotInlinedPassWhatTheyAreGiven) {
  const auto in = floats("in", 32), out = floats("out", 32);
  run("passed_on", {}, out, in);
  EXPECT_EQ(sources(out, 5), (Elements{{{"in", 0}, 1}, {{"in", 5}, 1}, {{"in", 26}, 1}}));
}

TEST_F(Flows, BlocksThatRunSideBySideHaveValuesOfTheirOwn) {
  const auto in = floats("in", 32), out = floats("out", 2);
  const auto flag = array("flag", std::vector<int>(1));
  run("handed_on", {.grid = {2, 1, 1}, .block = {1, 1, 1}}, out, in, flag);
  EXPECT_EQ(sources(out, 0), (Elements{{{"in", 5}, 1}, {{"in", 7}, 1}}));
}

TEST_F(Flows, CopiesThatReadLessFillUpWithZeros) {
  const auto in = floats("in", 128), out = floats("out", 64);
  run("partly_copied", {}, out, in);
  EXPECT_EQ(sources(out, 4), (Elements{{{"in", 8}, 1}}));
  EXPECT_EQ(sources(out, 5), Elements{});
}

TEST_F(Flows, LocalArraysKeepTheirElementsApart) {
  const auto in = floats("in", 256), out = floats("out", 32);
  std::vector<int> numbers(32);
  for (int i = 0; i < 32; ++i) numbers[static_cast<std::size_t>(i)] = i * 3 % 8;
  const auto order = array("order", numbers);
  run("local_array", {}, out, in, order);
  EXPECT_EQ(sources(out, 5), (Elements{{{"in", 5 * 8 + 7}, 1}}));
}

TEST_F(Flows, VotesHaveTheLanesThatTheyName) {
  const auto in = array("in", std::vector<int>(32, 1)), out = array("out", std::vector<int>(32));
  run("votes", {}, out, in);
  Elements expected;
  for (std::size_t i = 8; i < 12; ++i) expected[{"in", i}] = 1;
  EXPECT_EQ(sources(out, 9), expected);
}

TEST_F(Flows, ReductionsOfAWarpHaveAllLanes) {
  const auto in = array("in", std::vector<int>(32, 1)), out = array("out", std::vector<int>(32));
  run("largest_of_warp", {}, out, in);
  EXPECT_EQ(sources(out, 9).size(), 32U);
}

TEST_F(Flows, KernelsHandOnWhatTheyStored) {
  const auto in = floats("in", 64), between = floats("between", 64), out = floats("out", 2);
  run("copy", {.grid = {2, 1, 1}}, between, in);
  run("warp_sums", {.grid = {2, 1, 1}}, out, between);
  Elements expected;
  for (std::size_t i = 0; i < 32; ++i) expected[{"in", i}] = 1;
  EXPECT_EQ(sources(out, 0), expected);
}

TEST_F(Flows, CopiesOnTheDeviceHandOnWhatTheyCopy) {
  const auto in = floats("in", 64), between = floats("between", 64), out = floats("out", 64);
  provenance_->copied(between, in, 64 * sizeof(float));
  run("copy", {.grid = {2, 1, 1}}, out, between);
  EXPECT_EQ(sources(out, 40), (Elements{{{"in", 40}, 1}}));
}

TEST_F(Flows, WhatTheHostWroteAfterItReadMayBeAnything) {
  const auto in = floats("in", 64), out = floats("out", 64);
  provenance_->host_wrote(in, 32 * sizeof(float));
  provenance_->host_read();
  provenance_->host_wrote(in + 32 * sizeof(float), 32 * sizeof(float));
  run("copy", {.grid = {2, 1, 1}}, out, in);
  EXPECT_EQ(sources(out, 5), (Elements{{{"in", 5}, 1}}));
  EXPECT_EQ(sources(out, 40), (Elements{{{"incomplete", 0}, 1}}));
}

TEST_F(Flows, ParametersMayBeMadeOfWhatTheHostRead) {
  const auto x = floats("x", 32), y = floats("y", 32);
  provenance_->host_read();
  run("saxpy", {}, y, x, 2.0F);
  EXPECT_EQ(sources(y, 3), (Elements{{{"incomplete", 0}, 1}, {{"x", 3}, 1}, {{"y", 3}, 1}}));
}

TEST_F(Flows, MemoryBeyondWhatIsKeptIsUnknown) {
  const auto in = floats("in", 64), between = floats("between", 64);
  run("copy", {.grid = {2, 1, 1}}, between, in);
  const std::uint64_t large = device_.memory().allocate(std::uint64_t{64} << 20, "large").value();
  const auto out = floats("out", 64);
  provenance_->cleared(large, std::uint64_t{64} << 20);
  provenance_->cleared(between, 64 * sizeof(float));
  run("copy", {.grid = {2, 1, 1}}, out, between);
  EXPECT_EQ(sources(between, 5), Elements{}) << "what is kept goes on to be right";
  EXPECT_FALSE(origin(out, 5).complete);
}

TEST_F(Flows, TooManySetsAreToldAsIncomplete) {
  provenance_ = std::make_unique<Provenance>(500);
  const auto in = floats("in", 1024), out = floats("out", 1);
  provenance_->cleared(out, sizeof(float));
  run("atomic_sum", {.grid = {32, 1, 1}}, out, in);
  EXPECT_FALSE(origin(out, 0).complete);
}

}  // namespace
}  // namespace simgpu::testing

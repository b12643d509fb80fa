#include <array>
#include <random>

#include "simgpu/exec/sampling_testing.h"

/// Launches whose blocks have different work by their place: sampled, they tell the counters and
/// the time of the whole launch.
namespace simgpu::testing {
namespace {

enum Order { kTileX, kTileY, kTileInHead, kHeadInTile, kReversed };

struct Attention {
  const char* kernel = "flash64";
  int rows = 32;  ///< of a block's query tile
  int length = 1024, heads = 4, key_value_heads = 4, window = 0;
  Order order = kTileX;
};

class AttentionLaunch : public SampledLaunch {
 protected:
  AttentionLaunch() : SampledLaunch(SIMGPU_ATTENTION_PTX) {}

  static Shape shape_of(const Attention& attention) {
    const auto tiles =
        static_cast<std::uint32_t>((attention.length + attention.rows - 1) / attention.rows);
    const auto heads = static_cast<std::uint32_t>(attention.heads);
    Shape shape;
    shape.kernel = attention.kernel;
    switch (attention.order) {
      case kTileX:
      case kReversed:
        shape.grid = {tiles, heads, 1};
        break;
      case kTileY:
        shape.grid = {heads, tiles, 1};
        break;
      case kTileInHead:
      case kHeadInTile:
        shape.grid = {tiles * heads, 1, 1};
        break;
    }
    const bool row_per_warp = std::string_view(attention.kernel) == "warp_per_row";
    shape.block = {32, row_per_warp ? 8U : 4U, 1};
    shape.megabytes = {16, 16, 16, 16};
    shape.numbers = {attention.length, attention.heads, attention.key_value_heads, attention.window,
                     attention.order};
    return shape;
  }

  void expect_told_of(const Attention& attention) { expect_told_from_samples(shape_of(attention)); }
};

TEST_P(AttentionLaunch, OfCausalTilesInEveryOrder) {
  for (const Order order : {kTileX, kTileY, kTileInHead, kHeadInTile, kReversed}) {
    expect_told_of({.order = order});
  }
}

TEST_P(AttentionLaunch, OfHeadsThatShareKeys) {
  expect_told_of({.heads = 6, .key_value_heads = 2});
  expect_told_of({.heads = 8, .key_value_heads = 1, .order = kTileInHead});
}

TEST_P(AttentionLaunch, OfASlidingWindow) {
  expect_told_of({.window = 200});
  expect_told_of({.window = 512, .order = kReversed});
}

TEST_P(AttentionLaunch, OfARaggedLastTile) {
  expect_told_of({.length = 1000});
  expect_told_of({.length = 777, .order = kTileInHead});
}

TEST_P(AttentionLaunch, OfTilesThatDifferInSize) {
  expect_told_of({.kernel = "flash64_narrow", .rows = 8});
  expect_told_of({.kernel = "flash64_half", .rows = 64, .heads = 8, .key_value_heads = 8});
}

TEST_P(AttentionLaunch, OfAWarpPerRow) {
  expect_told_of({.kernel = "warp_per_row", .rows = 8, .length = 1024, .heads = 2});
}

TEST_P(AttentionLaunch, OfADecodeStepWhoseKeysAreDivided) {
  expect_told_from_samples({.kernel = "decode",
                            .grid = {32, 16, 1},
                            .block = {32, 4, 1},
                            .megabytes = {1, 32, 32, 1},
                            .numbers = {4090, 16, 4, 0, 128}});
}

TEST_P(AttentionLaunch, OfRowsOfATriangle) {
  expect_told_from_samples({.kernel = "triangular_softmax",
                            .grid = {1024, 8, 1},
                            .block = {128, 1, 1},
                            .megabytes = {32, 32},
                            .numbers = {1024}});
}

TEST_P(AttentionLaunch, OfSequencesOfDifferentLengths) {
  expect_told_from_samples({.kernel = "ragged_batch",
                            .grid = {32, 8, 64},
                            .block = {32, 1, 1},
                            .megabytes = {256, 4},
                            .numbers = {2048}});
}

TEST_P(AttentionLaunch, WhichBlocksRunIsASecretAndTheyTellWhatAllStore) {
  constexpr std::uint64_t kHeads = 8, kHeadDim = 64;
  for (const int length : {1024, 1000}) {
    const Attention attention{.length = length, .heads = kHeads, .key_value_heads = 2};
    expect_told_by_other_blocks(shape_of(attention), kHeads * static_cast<std::uint64_t>(length) *
                                                         kHeadDim * sizeof(float));
  }
}

TEST_P(AttentionLaunch, OfRandomShapesOrRunsInFull) {
  std::mt19937 random(7);
  const auto pick = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  int sampled = 0;
  constexpr int kLaunches = 16;
  for (int i = 0; i < kLaunches; ++i) {
    Attention attention;
    const int kernel = pick(0, 2);
    attention.kernel = std::array{"flash64", "flash64_narrow", "warp_per_row"}.at(
        static_cast<std::size_t>(kernel));
    attention.rows = kernel == 0 ? 32 : 8;
    attention.length = pick(130, kernel == 0 ? 600 : 300);
    attention.key_value_heads = pick(1, 4);
    attention.heads =
        kernel == 2 ? attention.key_value_heads : attention.key_value_heads * pick(1, 3);
    if (kernel != 2 && pick(0, 1) == 1) attention.window = pick(20, attention.length);
    attention.order = static_cast<Order>(pick(kTileX, kReversed));
    SCOPED_TRACE(::testing::Message()
                 << attention.kernel << " length " << attention.length << " heads "
                 << attention.heads << " / " << attention.key_value_heads << " window "
                 << attention.window << " order " << attention.order);
    if (expect_told(shape_of(attention))) ++sampled;
  }
  std::printf("%d of %d random launches were sampled\n", sampled, kLaunches);
}

TEST_P(AttentionLaunch, WhoseTurnsDataDecides) {
  Shape shape{.kernel = "turns_of_data",
              .grid = {64, 64, 1},
              .block = {64, 1, 1},
              .megabytes = {1, 4},
              .numbers = {1}};
  shape.first_array.resize(64 * 64);
  for (std::size_t i = 0; i < shape.first_array.size(); ++i) {
    shape.first_array[i] = static_cast<int>(100 + i * i % 61 * (i % 7));
  }
  // One number for all blocks of a column, then one for each block.
  expect_told_from_samples(shape);
  shape.numbers = {64};
  shape.sampled = false;
  expect_told_from_samples(shape);
}

/// Long enough that L2 is told from some of its sets; takes half a minute.
TEST_P(AttentionLaunch, DISABLED_OfLongSequences) {
  expect_told_of({.length = 4096, .heads = 8, .key_value_heads = 8});
  expect_told_of({.kernel = "warp_per_row", .rows = 8, .length = 2048, .heads = 16});
}

INSTANTIATE_TEST_SUITE_P(OnGpus, AttentionLaunch, ::testing::Values("a100", "t4"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace simgpu::testing

// Instructions that nvcc seldom makes, or not for the GPU of flows.cu.
#include <cstdint>

#include "simgpu/provenance/provenance_testing.h"

namespace simgpu::testing {
namespace {

/// A kernel of one warp with out, x and y: %d1 to %d3, of which each is this lane's word; %r1 is
/// the lane.
std::string kernel(const std::string& name, const std::string& body) {
  return ".visible .entry " + name + R"((.param .u64 out, .param .u64 x, .param .u64 y) {
  .shared .align 16 .b8 tile[256];
  .shared .align 8 .b64 bar;
  .reg .pred %q<4>; .reg .b32 %r<20>; .reg .b64 %d<8>; .reg .f32 %f<4>;
  ld.param.u64 %d1, [out]; ld.param.u64 %d2, [x]; ld.param.u64 %d3, [y];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d4, %r1, 4;
  add.u64 %d1, %d1, %d4; add.u64 %d2, %d2, %d4; add.u64 %d3, %d3, %d4;
)" + body +
         "  ret;\n}\n";
}

/// The same, that makes %r4 of %r2 and %r3, words of x and y.
std::string of_words(const std::string& name, const std::string& body) {
  return kernel(name, "  ld.global.u32 %r2, [%d2];\n  ld.global.u32 %r3, [%d3];\n" + body +
                          "  st.global.u32 [%d1], %r4;\n");
}

std::string module() {
  return ".version 8.6\n.target sm_90\n.address_size 64\n" +
         of_words("permuted", "  prmt.b32 %r4, %r2, %r3, 0x5410;\n") +
         of_words("funnelled", "  shf.l.wrap.b32 %r4, %r2, %r3, 16;\n") +
         of_words("inserted", "  bfi.b32 %r4, %r2, %r3, 16, 16;\n") +
         of_words("shifted", "  and.b32 %r5, %r3, 31;\n  shl.b32 %r4, %r2, %r5;\n") +
         of_words("masked", "  and.b32 %r4, %r2, 0xFFFF;\n") +
         of_words("counted", "  setp.gt.s32 %q1, %r2, 0;\n  bar.red.popc.u32 %r4, 0, %q1;\n") +
         of_words("turned", "  movmatrix.sync.aligned.m8n8.trans.b16 %r4, %r2;\n") +
         of_words("stored_by_rows", R"(  mov.u32 %r5, tile;
  and.b32 %r6, %r1, 7; mul.lo.u32 %r6, %r6, 16; add.u32 %r6, %r5, %r6;
  stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r6], {%r2};
  bar.sync 0;
  xor.b32 %r7, %r1, 31; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r5, %r7;
  ld.shared.u32 %r4, [%r7];
)") +
         of_words("added_to_halves",
                  "  atom.global.add.noftz.f16x2 %r5, [%d1], %r2;\n  ld.global.u32 %r4, [%d1];\n") +
         kernel("in_bulk", R"(  setp.eq.u32 %q1, %r1, 0;
  @%q1 mbarrier.init.shared.b64 [bar], 1;
  bar.sync 0;
  @%q1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%d2+64], 128, [bar];
  @%q1 mbarrier.arrive.expect_tx.shared.b64 %d5, [bar], 128;
$wait:
  mbarrier.test_wait.parity.shared.b64 %q2, [bar], 0;
  @!%q2 bra $wait;
  mov.u32 %r5, tile; mul.lo.u32 %r6, %r1, 4; add.u32 %r5, %r5, %r6;
  ld.shared.u32 %r4, [%r5];
  st.global.u32 [%d1], %r4;
)") + kernel("sums_of_halves", R"(  ld.global.u32 %r2, [%d2]; ld.global.u32 %r3, [%d2+128];
  ld.global.u32 %r4, [%d3];
  ld.global.u32 %r5, [%d1]; ld.global.u32 %r6, [%d1+128];
  mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r7, %r8}, {%r2, %r3}, {%r4}, {%r5, %r6};
  st.global.u32 [%d1], %r7; st.global.u32 [%d1+128], %r8;
)");
}

class Instructions : public Followed {
 protected:
  Instructions() : Followed(module()) {}
  std::uint64_t halves(const std::string& name, std::size_t count = 64) {
    return array(name, std::vector<std::uint16_t>(count, 0x3C01));
  }
  /// What went into the two halves of a word, with halves x and y.
  std::pair<Elements, Elements> halves_of(const std::string& kernel, std::size_t word) {
    const auto x = halves("x"), y = halves("y"), out = halves("out");
    run(kernel, {}, out, x, y);
    return {sources(out, 2 * word), sources(out, 2 * word + 1)};
  }
};

using Two = std::pair<Elements, Elements>;
Elements one(const std::string& name, std::size_t element) { return {{{name, element}, 1}}; }

TEST_F(Instructions, ThatMoveBytesMoveTheirOrigins) {
  EXPECT_EQ(halves_of("permuted", 5), (Two{one("x", 10), one("y", 10)}));
  EXPECT_EQ(halves_of("funnelled", 5), (Two{one("x", 11), one("y", 10)}));
  EXPECT_EQ(halves_of("inserted", 5), (Two{one("y", 10), one("x", 10)}));
  EXPECT_EQ(halves_of("masked", 5), (Two{one("x", 10), {}}));
}

TEST_F(Instructions, AShiftByAnyDistanceMixesAll) {
  const auto [low, high] = halves_of("shifted", 5);
  EXPECT_TRUE(low.contains({"x", 10}) && low.contains({"y", 10}));
  EXPECT_TRUE(high.contains({"x", 10}) && high.contains({"x", 11}) && high.contains({"y", 10}));
}

TEST_F(Instructions, SumsOverABlockAreUnknown) {
  EXPECT_EQ(halves_of("counted", 5).first, (Elements{{{"incomplete", 0}, 1}}));
}

TEST_F(Instructions, AMatrixIsTurned) {
  // Word 5 is row 1, columns 2 and 3.
  EXPECT_EQ(halves_of("turned", 5), (Two{one("x", 2 * 8 + 1), one("x", 3 * 8 + 1)}));
}

TEST_F(Instructions, AMatrixIsStoredByRows) {
  EXPECT_EQ(halves_of("stored_by_rows", 5), (Two{one("x", 26 * 2), one("x", 26 * 2 + 1)}));
}

TEST_F(Instructions, AtomicsAddToHalvesOneByOne) {
  const auto [low, high] = halves_of("added_to_halves", 5);
  EXPECT_EQ(low, (Elements{{{"out", 10}, 1}, {{"x", 10}, 1}}));
  EXPECT_EQ(high, (Elements{{{"out", 11}, 1}, {{"x", 11}, 1}}));
}

TEST_F(Instructions, BulkCopiesBringTheirSource) {
  const auto x = floats("x", 64), y = floats("y", 32), out = floats("out", 32);
  run("in_bulk", {}, out, x, y);
  EXPECT_EQ(sources(out, 5), one("x", 21));
}

TEST_F(Instructions, SumsOfHalvesHaveRowColumnAndWhatWasThere) {
  const auto x = halves("x", 128), y = halves("y"), out = halves("out", 128);
  run("sums_of_halves", {}, out, x, y);
  for (std::size_t row = 0; row < 16; ++row) {
    for (std::size_t column = 0; column < 8; ++column) {
      Elements expected = one("out", row * 8 + column);
      for (std::size_t k = 0; k < 8; ++k) {
        expected[{"x", row * 8 + k}] = 1;
        expected[{"y", column * 8 + k}] = 1;
      }
      EXPECT_EQ(sources(out, row * 8 + column), expected) << row << ", " << column;
    }
  }
}

}  // namespace
}  // namespace simgpu::testing

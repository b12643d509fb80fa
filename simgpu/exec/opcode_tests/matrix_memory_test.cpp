#include <gtest/gtest.h>

#include <cstring>

#include "simgpu/exec/opcode_tests/bench.h"
#include "simgpu/exec/opcode_tests/tested_instructions.h"

/// ldmatrix, stmatrix and movmatrix against the figures of the PTX ISA: row r of a matrix is in
/// lanes 4r to 4r + 3, two elements in each.
namespace simgpu::opcode_tests::matrix_memory_test {
namespace {

constexpr std::uint64_t kAll = 0xFFFFFFFF;
constexpr unsigned kRowPitch = 48;  ///< bytes from one row to the next; 32 rows of 16 bytes

struct MatrixCase {
  unsigned count;
  bool trans, generic;

  std::string modifiers() const {
    return ".sync.aligned.m8n8.x" + std::to_string(count) + (trans ? ".trans" : "") +
           (generic ? "" : ".shared") + ".b16";
  }
  std::string registers() const {
    std::string text = "{";
    for (unsigned i = 0; i < count; ++i) text += (i == 0 ? "%f" : ", %f") + std::to_string(i);
    return text + "}";
  }
  std::string place() const { return generic ? "[%d4+64]" : "[%r4+64]"; }
  std::string load() const {
    return "ldmatrix" + modifiers() + " " + registers() + ", " + place() + ";";
  }
  std::string store() const {
    return "stmatrix" + modifiers() + " " + place() + ", " + registers() + ";";
  }
};

std::vector<MatrixCase> cases() {
  std::vector<MatrixCase> all;
  for (const unsigned count : {1U, 2U, 4U}) {
    for (const bool trans : {false, true}) {
      for (const bool generic : {false, true}) all.push_back({count, trans, generic});
    }
  }
  return all;
}

constexpr unsigned kTileBytes = 64 + 32 * kRowPitch;

/// %r4 and %d4: where lane i's row begins, 64 bytes before it; lanes that name no row have -1.
std::string addresses(unsigned count) {
  return "  mul.lo.u32 %r4, %lane, " + std::to_string(kRowPitch) +
         ";\n  mov.u32 %r5, tile;\n  add.u32 %r4, %r4, %r5;\n  setp.lt.u32 %q1, %lane, " +
         std::to_string(8 * count) +
         ";\n  selp.u32 %r4, %r4, 0xfffffff1, %q1;\n  cvt.u64.u32 %d4, %r4;\n"
         "  cvta.shared.u64 %d4, %d4;\n";
}

/// Copies the tile, 16 bytes per lane and turn.
std::string copy(const std::string& label, bool in) {
  const std::string load = in ? "ld.global.b32 %r8, [%d8]" : "ld.shared.b32 %r8, [%r7]";
  const std::string store = in ? "st.shared.b32 [%r7], %r8" : "st.global.b32 [%d8], %r8";
  return "  mul.lo.u32 %r6, %lane, 4;\n$" + label +
         ":\n  mov.u32 %r7, tile;\n  add.u32 %r7, %r7, %r6;\n  cvt.u64.u32 %d8, %r6;\n"
         "  add.u64 %d8, %d8, " +
         (in ? "%p0" : "%p1") + ";\n  " + load + ";\n  " + store +
         ";\n  add.u32 %r6, %r6, 128;\n  setp.lt.u32 %q1, %r6, " + std::to_string(kTileBytes) +
         ";\n  @%q1 bra $" + label + ";\n";
}

const char* const kDeclarations = "  .reg .b32 %f<8>;\n  .shared .align 16 .b8 tile[1600];\n";
static_assert(kTileBytes == 1600);

std::string register_moves(unsigned count, bool load) {
  std::string text = "  mul.wide.u32 %d0, %lane, 16;\n  add.u64 %d0, %d0, %p" +
                     std::string(load ? "0" : "1") + ";\n";
  for (unsigned i = 0; i < count; ++i) {
    const std::string place = "[%d0+" + std::to_string(4 * i) + "]";
    const std::string value = "%f" + std::to_string(i);
    text += load ? "  ld.global.b32 " + value + ", " + place + ";\n"
                 : "  st.global.b32 " + place + ", " + value + ";\n";
  }
  return text;
}

/// Element (row, column) of matrix i in a tile.
std::uint16_t in_tile(const std::vector<std::uint8_t>& tile, unsigned i, unsigned row,
                      unsigned column) {
  std::uint16_t value = 0;
  std::memcpy(&value, &tile[64 + (8 * i + row) * kRowPitch + 2 * column], 2);
  return value;
}
/// The same of the lanes' registers, 16 bytes for each lane.
std::uint16_t in_registers(const std::vector<std::uint8_t>& registers, unsigned i, unsigned row,
                           unsigned column) {
  std::uint16_t value = 0;
  const unsigned lane = 4 * row + column / 2;
  std::memcpy(&value, &registers[16 * lane + 4 * i + 2 * (column % 2)], 2);
  return value;
}

std::vector<std::uint8_t> random_bytes(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint8_t> bytes;
  for (const std::uint64_t value : random_values(count, seed)) {
    bytes.push_back(static_cast<std::uint8_t>(value));
  }
  return bytes;
}

TEST(MatrixForms, LoadRowsIntoTheLanesOfTheFigure) {
  for (const MatrixCase& x : cases()) {
    SCOPED_TRACE(x.load());
    testing::Device device(
        bench_module(bench_kernel("load",
                                  copy("in", true) + "  bar.sync 0;\n" + addresses(x.count) + "  " +
                                      x.load() + "\n" + register_moves(x.count, false),
                                  kDeclarations)));
    ASSERT_EQ(refusal_of(device, "load"), "");
    const std::vector<std::uint8_t> tile = random_bytes(kTileBytes, x.count);
    const std::uint64_t out = device.put(std::vector<std::uint8_t>(512));
    const std::uint64_t in = device.put(tile);
    const LaunchResult result = device.run("load", {}, in, out, in, in, in, kAll);
    ASSERT_EQ(trouble(result), "");
    const std::vector<std::uint8_t> registers = device.get<std::uint8_t>(out, 512);
    for (unsigned i = 0; i < x.count; ++i) {
      for (unsigned row = 0; row < 8; ++row) {
        for (unsigned column = 0; column < 8; ++column) {
          ASSERT_EQ(in_registers(registers, i, x.trans ? column : row, x.trans ? row : column),
                    in_tile(tile, i, row, column))
              << "matrix " << i << ", row " << row << ", column " << column;
        }
      }
    }
    // One wavefront a matrix: rows 48 bytes apart touch all banks once.
    EXPECT_EQ(result.counters.instructions_by_class.at("shared_load"), 1u);
    EXPECT_EQ(result.counters.shared_load_wavefronts, x.count);
    EXPECT_EQ(result.counters.shared_load_bank_conflicts, 0u);
  }
}

TEST(MatrixForms, StoreTheLanesOfTheFigureIntoRows) {
  for (const MatrixCase& x : cases()) {
    SCOPED_TRACE(x.store());
    testing::Device device(bench_module(bench_kernel(
        "store",
        copy("in", true) + "  bar.sync 0;\n" + addresses(x.count) +
            "  mov.u64 %d9, %p0;\n  mov.u64 %p0, %p2;\n" + register_moves(x.count, true) +
            "  mov.u64 %p0, %d9;\n  " + x.store() + "\n  bar.sync 0;\n" + copy("out", false),
        kDeclarations)));
    ASSERT_EQ(refusal_of(device, "store"), "");
    const std::vector<std::uint8_t> before = random_bytes(kTileBytes, 5);
    const std::vector<std::uint8_t> registers = random_bytes(512, x.count);
    const std::uint64_t in = device.put(before);
    const std::uint64_t out = device.put(std::vector<std::uint8_t>(kTileBytes));
    ASSERT_EQ(trouble(device.run("store", {}, in, out, device.put(registers), in, in, kAll)), "");
    const std::vector<std::uint8_t> tile = device.get<std::uint8_t>(out, kTileBytes);
    std::vector<std::uint8_t> expected = before;
    for (unsigned i = 0; i < x.count; ++i) {
      for (unsigned row = 0; row < 8; ++row) {
        for (unsigned column = 0; column < 8; ++column) {
          const std::uint16_t value =
              in_registers(registers, i, x.trans ? column : row, x.trans ? row : column);
          std::memcpy(&expected[64 + (8 * i + row) * kRowPitch + 2 * column], &value, 2);
        }
      }
    }
    EXPECT_EQ(tile, expected);
  }
}

TEST(MatrixForms, MoveAMatrixToItsTranspose) {
  testing::Device device(bench_module(
      bench_kernel("move",
                   register_moves(1, true) + "  movmatrix.sync.aligned.m8n8.trans.b16 %f0, %f0;\n" +
                       register_moves(1, false),
                   kDeclarations)));
  const std::vector<std::uint8_t> before = random_bytes(512, 3);
  const std::uint64_t in = device.put(before);
  const std::uint64_t out = device.put(std::vector<std::uint8_t>(512));
  ASSERT_EQ(trouble(device.run("move", {}, in, out, in, in, in, kAll)), "");
  const std::vector<std::uint8_t> after = device.get<std::uint8_t>(out, 512);
  for (unsigned row = 0; row < 8; ++row) {
    for (unsigned column = 0; column < 8; ++column) {
      EXPECT_EQ(in_registers(after, 0, row, column), in_registers(before, 0, column, row));
    }
  }
}

/// Rows of 128 bytes fall on the same banks.
TEST(MatrixForms, CountBankConflictsOfRows) {
  testing::Device device(bench_module(
      bench_kernel("conflicts",
                   "  mul.lo.u32 %r4, %lane, 128;\n  mov.u32 %r5, tile;\n  add.u32 %r4, %r4, %r5;\n"
                   "  mov.u32 %f0, 0;\n  mov.u32 %f1, 0;\n"
                   "  stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r4], {%f0, %f1};\n  bar.sync 0;\n"
                   "  ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%f0, %f1}, [%r4];\n",
                   "  .reg .b32 %f<8>;\n  .shared .align 16 .b8 tile[4096];\n")));
  const LaunchResult result = device.run("conflicts", {}, kAll, kAll, kAll, kAll, kAll, kAll);
  ASSERT_EQ(trouble(result), "");
  EXPECT_EQ(result.counters.shared_load_wavefronts, 16u);
  EXPECT_EQ(result.counters.shared_load_bank_conflicts, 14u);
  EXPECT_EQ(result.counters.shared_store_bank_conflicts, 14u);
}

/// The first finding of a kernel of two warps with a tile of 1600 bytes.
Finding finding_of(const std::string& body) {
  testing::Device device(bench_module(bench_kernel("found", body, kDeclarations)));
  testing::Launch launch;
  launch.block = {64, 1, 1};
  const std::uint64_t data = device.put(std::vector<std::uint8_t>(4096));
  const LaunchResult result = device.run("found", launch, data, data, data, data, data, kAll);
  return result.findings.empty() ? Finding{} : result.findings.front();
}

TEST(MatrixForms, AreWatchedLikeOtherAccesses) {
  const std::string row =
      "  mul.lo.u32 %r4, %lane, 16;\n  mov.u32 %r5, tile;\n  add.u32 %r4, %r4, %r5;\n"
      "  mov.u32 %f0, %thread;\n";
  const std::string load = "  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%f0}, [%r4";
  const std::string store = "  stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r4], {%f0};\n";
  EXPECT_EQ(finding_of(row + load + "];\n").code, Code("RL0206")) << "nothing was written";
  EXPECT_EQ(finding_of(row + load + "+1592];\n").code, Code("RL0202"));
  EXPECT_EQ(finding_of(row + load + "+8];\n").code, Code("RL0204"));
  EXPECT_EQ(finding_of(row + store).code, Code("RL0303")) << "both warps store";
  const std::string of_first = "  setp.lt.u32 %q1, %thread, 32;\n  @!%q1 bra $other;\n";
  const std::string then = "  bra $end;\n$other:\n";
  EXPECT_EQ(finding_of(row + of_first + store + then + load + "];\n$end:\n").code, Code("RL0302"));
  EXPECT_EQ(finding_of(row + of_first + store + "  bar.sync 0;\n" + then + "  bar.sync 0;\n" +
                       load + "];\n$end:\n")
                .code,
            Code())
      << "each warp comes to a barrier";
  EXPECT_EQ(finding_of(row + "  setp.ne.u32 %q2, %lane, 5;\n  @%q2" + store.substr(1)).code,
            Code("RL0305"));
}

TEST(MatrixForms, FormsWithoutCodeAreRefusedByName) {
  for (const std::string& text :
       std::vector<std::string>{"ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%f0, %f1, %f2}, [%r4]",
                                "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%f0}, [%r4]",
                                "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%f0, %f1}, [%r4]",
                                "ldmatrix.sync.aligned.m8n8.x1.global.b16 {%f0}, [%p0]",
                                "ldmatrix.sync.m8n8.x1.shared.b16 {%f0}, [%r4]",
                                "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r4], {%f0}",
                                "stmatrix.sync.aligned.m8n8.x1.shared::cluster.b16 [%r4], {%f0}",
                                "movmatrix.sync.aligned.m8n8.b16 %f0, %f1"}) {
    testing::Device device(
        bench_module(bench_kernel("refused", "  " + text + ";\n", "  .reg .b32 %f<32>;\n")));
    const std::string spelling = text.substr(0, text.find(' '));
    EXPECT_NE(refusal_of(device, "refused").find(spelling), std::string::npos)
        << text << " gives: " << refusal_of(device, "refused");
  }
}

std::vector<std::string> matrix_instructions() {
  std::vector<std::string> all{"movmatrix.sync.aligned.m8n8.trans.b16 %f0, %f1;"};
  for (const MatrixCase& x : cases()) {
    all.push_back(x.load());
    all.push_back(x.store());
  }
  return all;
}
const TestedInstructions kTested{matrix_instructions};

}  // namespace
}  // namespace simgpu::opcode_tests::matrix_memory_test

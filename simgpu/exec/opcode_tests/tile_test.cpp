#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "simgpu/exec/opcode_tests/bench.h"
#include "simgpu/exec/opcode_tests/oracle.h"
#include "simgpu/exec/opcode_tests/tested_instructions.h"

/// wmma: every shape, type and layout, from global and shared memory, against sums in a wider type.
namespace simgpu::opcode_tests::tile_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint32_t kAll = 0xFFFFFFFFu;

struct Shape {
  const char* name;
  unsigned m, n, k;
};
constexpr Shape kShapes[] = {
    {"m16n16k16", 16, 16, 16}, {"m32n8k16", 32, 8, 16}, {"m8n32k16", 8, 32, 16}};
constexpr Shape kShapeOfTf32{"m16n16k8", 16, 16, 8};
constexpr Shape kShapeOfF64{"m8n8k4", 8, 8, 4};
constexpr Shape kShapeOfNibbles{"m8n8k32", 8, 8, 32};
constexpr Shape kShapeOfBits{"m8n8k128", 8, 8, 128};

/// One product: types and layouts, and where the tiles are.
struct TileCase {
  Shape shape;
  std::string input, addend, output;
  bool a_by_column = false, b_by_column = false, c_by_column = false, d_by_column = false;
  bool shared = false;
  bool padded = true;
  bool saturates = false;
  std::string operation = {};  ///< of single bits: ".xor.popc"

  std::string name() const {
    return "wmma " + std::string(shape.name) + "." + output + "." + input + "." + addend +
           operation + (saturates ? ".satfinite " : " ") + layout(a_by_column) + "." +
           layout(b_by_column) + " c " + layout(c_by_column) + " d " + layout(d_by_column) +
           (shared ? " shared" : " global") + (padded ? " padded" : "");
  }
  static std::string layout(bool by_column) { return by_column ? "col" : "row"; }
};

unsigned bits_of(const std::string& type) {
  if (type == "tf32") return 32;
  return width_of(type == "bf16" ? "f16" : type);
}
bool is_float(const std::string& type) {
  return type[0] == 'f' || type == "bf16" || type == "tf32";
}

/// A matrix in memory.
struct Placed {
  unsigned rows, columns;
  std::string type;
  bool by_column;
  bool padded;

  /// What keeps rows aligned as their fragment has to be: eight elements between the end of a row
  /// and the next one, 16 bytes of small ones.
  unsigned pad() const { return bits_of(type) < 16 ? 128 / std::min(bits_of(type), 8U) : 8; }
  unsigned stride() const { return (by_column ? rows : columns) + (padded ? pad() : 0); }
  unsigned bit(unsigned row, unsigned column) const {
    return (by_column ? column * stride() + row : row * stride() + column) * bits_of(type);
  }
  unsigned at(unsigned row, unsigned column) const { return bit(row, column) / 8; }
  std::uint64_t raw_in(const Bytes& bytes, unsigned row, unsigned column) const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &bytes[at(row, column)], std::max(bits_of(type) / 8, 1U));
    return cut(bits >> bit(row, column) % 8, bits_of(type));
  }
};

Placed place_a(const TileCase& x) {
  return {x.shape.m, x.shape.k, x.input, x.a_by_column, x.padded};
}
Placed place_b(const TileCase& x) {
  return {x.shape.k, x.shape.n, x.input, x.b_by_column, x.padded};
}
Placed place_c(const TileCase& x) {
  return {x.shape.m, x.shape.n, x.addend, x.c_by_column, x.padded};
}
Placed place_d(const TileCase& x) {
  return {x.shape.m, x.shape.n, x.output, x.d_by_column, x.padded};
}

/// Registers of a fragment as PTX has them.
unsigned registers_of(const Placed& matrix, bool accumulator) {
  const unsigned elements = matrix.rows * matrix.columns / 32;
  if (matrix.type == "f16" && !accumulator) return 8;
  return bits_of(matrix.type) < 32 ? elements * bits_of(matrix.type) / 32 : elements;
}

std::string fragment(unsigned first, unsigned count, bool wide = false) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i) {
    text += std::string(i == 0 ? "" : ", ") + (wide ? "%e" : "%f") + std::to_string(first + i);
  }
  return text + "}";
}

/// "16" as a literal where the rows are padded; nothing where the stride is the tile's own.
std::string stride_of(const Placed& matrix) {
  return matrix.padded ? ", " + std::to_string(matrix.stride()) : "";
}

struct TileTexts {
  std::string load_a, load_b, load_c, multiply, store;
};

TileTexts texts_of(const TileCase& x) {
  const std::string space = x.shared ? ".shared" : ".global";
  const std::string shape = std::string(".") + x.shape.name;
  const auto layout = [](bool by_column) { return "." + TileCase::layout(by_column); };
  const auto load = [&](char matrix, const Placed& at, unsigned first, unsigned address) {
    return std::string("wmma.load.") + matrix + ".sync.aligned" + layout(at.by_column) + shape +
           space + "." + at.type + " " +
           fragment(first, registers_of(at, matrix == 'c'), x.input == "f64") + ", [%d" +
           std::to_string(address) + "]" + stride_of(at) + ";";
  };
  const unsigned a = registers_of(place_a(x), false);
  const unsigned b = registers_of(place_b(x), false);
  const unsigned c = registers_of(place_c(x), true);
  const unsigned d = registers_of(place_d(x), true);
  const std::string types = x.input == "f16"
                                ? "." + x.output + "." + x.addend
                                : "." + x.output + "." + x.input + "." + x.input + "." + x.addend;
  const bool wide = x.input == "f64";
  return {load('a', place_a(x), 0, 0), load('b', place_b(x), 8, 1), load('c', place_c(x), 16, 2),
          "wmma.mma" + x.operation + ".sync.aligned" + layout(x.a_by_column) +
              layout(x.b_by_column) + "." + x.shape.name + types +
              (x.saturates ? ".satfinite " : " ") + fragment(24, d, wide) + ", " +
              fragment(0, a, wide) + ", " + fragment(8, b, wide) + ", " + fragment(16, c, wide) +
              ";",
          "wmma.store.d.sync.aligned" + layout(x.d_by_column) + shape + space + "." + x.output +
              " [%d3], " + fragment(24, d, wide) + stride_of(place_d(x)) + ";"};
}

/// %p0 to %p3: A, B, C and D. In shared memory, all four are copied there and D back.
std::string kernel_of(const std::string& name, const TileCase& x) {
  const TileTexts texts = texts_of(x);
  std::string body;
  std::string after;
  const auto copy = [](const std::string& label, const std::string& from, const std::string& to,
                       const std::string& load, const std::string& store) {
    return "  mul.wide.u32 %d8, %lane, 16;\n  add.u64 %d9, " + from + ", %d8;\n  add.u64 %d8, " +
           to + ", %d8;\n  mov.u32 %r0, 0;\n$" + label + ":\n  ld." + load +
           ".v4.b32 {%r4, %r5, %r6, %r7}, [%d9];\n  st." + store +
           ".v4.b32 [%d8], {%r4, %r5, %r6, %r7};\n  add.u64 %d8, %d8, 512;\n"
           "  add.u64 %d9, %d9, 512;\n  add.u32 %r0, %r0, 512;\n  setp.lt.u32 %q1, %r0, 4096;\n"
           "  @%q1 bra $" +
           label + ";\n";
  };
  for (unsigned i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i);
    if (!x.shared) {
      body += "  mov.u64 %d" + n + ", %p" + n + ";\n";
      continue;
    }
    body += "  mov.u64 %d" + n + ", tiles;\n  add.u64 %d" + n + ", %d" + n + ", " +
            std::to_string(4096 * i) + ";\n" +
            copy("in" + n, "%p" + n, "%d" + n, "global", "shared");
  }
  if (x.shared) after = "  bar.sync 0;\n" + copy("out", "%d3", "%p3", "shared", "global");
  return bench_kernel(
      name,
      body + "  bar.sync 0;\n  " + texts.load_a + "\n  " + texts.load_b + "\n  " + texts.load_c +
          "\n  " + texts.multiply + "\n  " + texts.store + "\n" + after,
      "  .reg .b32 %f<32>;\n  .reg .b64 %e<32>;\n  .shared .align 128 .b8 tiles[16384];\n");
}

std::vector<TileCase> cases() {
  std::vector<TileCase> all;
  // Every pair of layouts of A and B; C and D, space and padding in every combination, or in some.
  const auto add = [&](const TileCase& form, unsigned step = 1) {
    for (unsigned bits = 0; bits < 64; bits += step) {
      TileCase x = form;
      const bool fixed = bits_of(x.input) < 8;
      x.a_by_column = !fixed && (bits & 1) != 0;
      x.b_by_column = fixed || (bits & 2) != 0;
      x.c_by_column = (bits & 4) != 0;
      x.d_by_column = (bits & 8) != 0;
      x.shared = (bits & 16) != 0;
      x.padded = (bits & 32) != 0;
      all.push_back(x);
    }
  };
  constexpr unsigned kSome = 5;
  for (const Shape& shape : kShapes) {
    for (const std::string addend : {"f16", "f32"}) {
      for (const std::string output : {"f16", "f32"}) add({shape, "f16", addend, output});
    }
    add({shape, "bf16", "f32", "f32"});
    for (const std::string input : {"s8", "u8"}) {
      TileCase x{shape, input, "s32", "s32"};
      add(x, kSome);
      x.saturates = true;
      add(x, kSome);
    }
  }
  add({kShapeOfTf32, "tf32", "f32", "f32"});
  add({kShapeOfF64, "f64", "f64", "f64"});
  for (const std::string input : {"s4", "u4"}) {
    TileCase x{kShapeOfNibbles, input, "s32", "s32"};
    add(x, kSome);
    x.saturates = true;
    add(x, kSome);
  }
  for (const std::string operation : {".xor.popc", ".and.popc"}) {
    TileCase x{kShapeOfBits, "b1", "s32", "s32"};
    x.operation = operation;
    add(x, kSome);
  }
  return all;
}

Quad decode(const std::string& type, std::uint64_t bits) {
  if (type == "f64") return f64_of(bits);
  if (bits_of(type) == 16) return HalfFormat::named(type).decode(bits);
  // A tensor core looks at 19 bits of a tf32 operand: eight of the exponent, ten of the fraction.
  if (type == "tf32") bits &= 0xffffe000u;
  if (is_float(type)) return f32_of(bits);
  return type == "b1" ? Quad(bits) : Quad(integer_of(bits, type));
}

/// Elements of magnitude 2^-6 to 2, every one with its own fraction; integers of any bits, those of
/// 32 so large that some sums overflow.
Bytes content(const Placed& matrix, std::uint64_t seed) {
  Bytes bytes(4096);
  const std::string& type = matrix.type;
  if (!is_float(type)) {
    const std::vector<std::uint64_t> values = random_values(512, seed);
    std::memcpy(bytes.data(), values.data(), bytes.size());
    for (std::size_t i = 3; type == "s32" && i < bytes.size(); i += 4) {
      bytes[i] = (bytes[i] & 1) != 0 ? 0x7f : 0x80;
      bytes[i - 1] = bytes[i] == 0x7f ? 0xff : 0x00;
    }
    return bytes;
  }
  const unsigned size = bits_of(type) / 8;
  const std::vector<std::uint64_t> values = random_values(4096 / size, seed);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double magnitude = std::ldexp(1.0 + static_cast<double>(values[i] % 1024) / 1024,
                                        -static_cast<int>(values[i] >> 20 & 3) * 2);
    const double value = (values[i] >> 30 & 1) != 0 ? -magnitude : magnitude;
    const std::uint64_t bits = size == 8   ? raw(value * (1 + 0x1p-50))
                               : size == 4 ? raw(static_cast<float>(value))
                                           : HalfFormat::named(type).round(value, "rn", false);
    std::memcpy(&bytes[i * size], &bits, size);
  }
  return bytes;
}

/// k additions in f32 or f64, each within half an ulp of the sum of magnitudes, then one rounding
/// to the type of the output.
double tolerance(const TileCase& x, double magnitudes) {
  const double ulp = x.output == "f64" ? 0x1p-52 : 0x1p-23;
  const double sums = (x.shape.k + 1) * ulp * magnitudes;
  return x.output == "f16" ? sums + magnitudes * 0x1p-11 : sums;
}

void expect_product(const TileCase& x, const Bytes& a, const Bytes& b, const Bytes& c,
                    const Bytes& d, const Bytes& before) {
  std::vector<bool> written(d.size());
  for (unsigned row = 0; row < x.shape.m; ++row) {
    for (unsigned column = 0; column < x.shape.n; ++column) {
      Quad sum = decode(x.addend, place_c(x).raw_in(c, row, column));
      Quad magnitudes = sum < 0 ? -sum : sum;
      for (unsigned k = 0; k < x.shape.k; ++k) {
        const std::uint64_t left = place_a(x).raw_in(a, row, k);
        const std::uint64_t right = place_b(x).raw_in(b, k, column);
        Quad product = decode(x.input, left) * decode(x.input, right);
        if (x.operation == ".xor.popc") product = left == right ? 0 : 1;
        sum += product;
        magnitudes += product < 0 ? -product : product;
      }
      SCOPED_TRACE("row " + std::to_string(row) + ", column " + std::to_string(column));
      const std::uint64_t bits = place_d(x).raw_in(d, row, column);
      if (x.output == "s32") {
        auto exact = static_cast<std::int64_t>(sum);
        if (x.saturates) exact = std::clamp<std::int64_t>(exact, INT32_MIN, INT32_MAX);
        ASSERT_EQ(static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(exact));
      } else {
        const auto error = static_cast<double>(decode(x.output, bits) - sum);
        ASSERT_TRUE(std::fabs(error) <= tolerance(x, static_cast<double>(magnitudes)))
            << "off by " << error;
      }
      const unsigned at = place_d(x).at(row, column);
      for (unsigned i = 0; i < bits_of(x.output) / 8; ++i) written[at + i] = true;
    }
  }
  for (std::size_t i = 0; i < d.size(); ++i) {
    ASSERT_TRUE(written[i] || d[i] == before[i]) << "byte " << i << " is outside of the tile";
  }
}

TEST(TileForms, MultiplyAsInAWiderType) {
  const std::vector<TileCase> all = cases();
  std::string kernels;
  for (std::size_t i = 0; i < all.size(); ++i) {
    kernels += kernel_of("tile_" + std::to_string(i), all[i]);
  }
  testing::Device device(bench_module(kernels));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const TileCase& x = all[i];
    SCOPED_TRACE(x.name());
    const std::string kernel = "tile_" + std::to_string(i);
    ASSERT_EQ(refusal_of(device, kernel), "");
    const Bytes a = content(place_a(x), 3 * i);
    const Bytes b = content(place_b(x), 3 * i + 1);
    const Bytes c = content(place_c(x), 3 * i + 2);
    const Bytes before(4096, 0x5a);
    const std::uint64_t d = device.put(before);
    ASSERT_EQ(trouble(device.run(kernel, {}, device.put(a), device.put(b), device.put(c), d, d,
                                 std::uint64_t{kAll})),
              "");
    expect_product(x, a, b, c, device.get<std::uint8_t>(d, 4096), before);
    if (HasFatalFailure()) return;
  }
}

/// An accumulator that is loaded and stored, in the other layout or the same: bit for bit, NaNs
/// and all.
TEST(TileForms, LoadedAccumulatorsAreStoredBitForBit) {
  for (const TileCase& x : cases()) {
    if (x.addend != x.output || x.a_by_column || x.saturates) continue;
    if (bits_of(x.input) >= 8 && x.b_by_column) continue;
    SCOPED_TRACE(x.name());
    const TileTexts texts = texts_of(x);
    std::string load = texts.load_c;
    const unsigned count = registers_of(place_c(x), true);
    load.replace(load.find('{'), load.find('}') - load.find('{') + 1,
                 fragment(24, count, x.input == "f64"));
    std::string kernel = kernel_of("copy", x);
    for (const std::string& text : {texts.load_a, texts.load_b, texts.load_c, texts.multiply}) {
      kernel.replace(kernel.find(text), text.size(), text == texts.load_c ? load : "");
    }
    testing::Device device(bench_module(kernel));
    Bytes c(4096);
    const std::vector<std::uint64_t> values = random_values(512, 12);
    std::memcpy(c.data(), values.data(), c.size());
    const std::uint64_t in = device.put(c);
    const std::uint64_t d = device.put(Bytes(4096));
    ASSERT_EQ(trouble(device.run("copy", {}, in, in, in, d, d, std::uint64_t{kAll})), "");
    const Bytes found = device.get<std::uint8_t>(d, 4096);
    for (unsigned row = 0; row < x.shape.m; ++row) {
      for (unsigned column = 0; column < x.shape.n; ++column) {
        ASSERT_EQ(std::memcmp(&found[place_d(x).at(row, column)], &c[place_c(x).at(row, column)],
                              bits_of(x.output) / 8),
                  0)
            << "row " << row << ", column " << column;
      }
    }
  }
}

/// The first finding of a kernel of one warp with this instruction; %p0 is an allocation.
Finding finding_of(const std::string& text) {
  testing::Device device(
      bench_module(bench_kernel("found", "  " + text + ";\n", "  .reg .b32 %f<32>;\n")));
  testing::Launch launch;
  launch.block = {32, 1, 1};
  const std::uint64_t data = device.put(std::vector<std::uint8_t>(4096));
  const LaunchResult result = device.run("found", launch, data, data, data, data, data, kAll);
  return result.findings.empty() ? Finding{} : result.findings.front();
}

TEST(TileForms, AreMisalignedWhereTheirRowsAre) {
  const std::string eight = "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}";
  const std::string load = "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 " + eight;
  const Finding base = finding_of(load + ", [%p0+2], 16");
  EXPECT_EQ(base.code, Code("RL0204"));
  EXPECT_EQ(base.message,
            "A tile must start at a multiple of 16 bytes, but this one is 2 bytes past one");
  EXPECT_EQ(base.where.action, "reads a tile of global memory");
  const Finding rows = finding_of(load + ", [%p0], 20");
  EXPECT_EQ(rows.code, Code("RL0204"));
  EXPECT_EQ(rows.message,
            "The rows of a tile must start at multiples of 16 bytes, but its leading dimension "
            "makes them 40 bytes apart");
  const Finding columns =
      finding_of("wmma.load.c.sync.aligned.col.m16n16k16.global.f32 " + eight +
                 ", [%p0], 16;\n  wmma.store.d.sync.aligned.col.m16n16k16.global.f32 [%p0], " +
                 eight + ", 17");
  EXPECT_EQ(columns.message,
            "The columns of a tile must start at multiples of 16 bytes, but its leading dimension "
            "makes them 68 bytes apart");
  EXPECT_EQ(columns.where.action, "writes a tile of global memory");
  EXPECT_EQ(finding_of(load + ", [%p0+16], 24").code, Code());
  // The fragment of bytes is smaller, and so is what it needs.
  const std::string bytes = "wmma.load.a.sync.aligned.row.m16n16k16.global.s8 {%f0, %f1}";
  EXPECT_EQ(finding_of(bytes + ", [%p0+8], 24").code, Code());
  EXPECT_EQ(finding_of(bytes + ", [%p0+4], 24").code, Code("RL0204"));
}

TEST(TileForms, FormsWithoutCodeAreRefusedByName) {
  const std::string eight = "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}";
  const std::string four = "{%f0, %f1, %f2, %f3}";
  const std::string product = " " + eight + ", " + eight + ", " + eight + ", " + eight + ";";
  for (const std::string& text : std::vector<std::string>{
           "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32.satfinite" + product,
           "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.u8.s32" + product,
           "wmma.mma.sync.aligned.row.row.m8n8k32.s32.s4.s4.s32" + product,
           "wmma.mma.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32" + product,
           "wmma.mma.sync.aligned.row.col.m8n8k4.rz.f64.f64.f64.f64" + product,
           "wmma.load.a.sync.aligned.col.m8n8k32.global.s4 {%f0}, [%p0], 16;",
           "wmma.load.c.sync.aligned.row.m16n16k16.global.s8 " + eight + ", [%p0], 16;",
           "wmma.mma.sync.aligned.row.col.m16n16k16.f16.bf16.bf16.f16" + product,
           "wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.f16.f32" + product,
           "wmma.mma.sync.aligned.row.col.m16n16k16.f32.tf32.tf32.f32" + product,
           "wmma.mma.sync.aligned.row.col.m16n16k8.f32.f32" + product,
           "wmma.mma.sync.aligned.row.col.m16n16k16.bf16.f32" + product,
           "wmma.load.a.sync.aligned.row.m16n16k16.global.f32 " + eight + ", [%p0], 16;",
           "wmma.load.a.sync.aligned.row.m16n16k16.global.tf32 " + eight + ", [%p0], 16;",
           "wmma.load.a.sync.aligned.row.m16n16k8.global.f16 " + eight + ", [%p0], 16;",
           "wmma.load.c.sync.aligned.row.m16n16k16.global.bf16 " + eight + ", [%p0], 16;",
           "wmma.load.d.sync.aligned.row.m16n16k16.global.f32 " + eight + ", [%p0], 16;",
           "wmma.store.a.sync.aligned.row.m16n16k16.global.f16 [%p0], " + eight + ", 16;",
           "wmma.load.a.sync.aligned.row.m16n16k16.shared::cluster.f16 " + eight + ", [%p0], 16;",
           "wmma.load.a.sync.aligned.row.m16n16k16.local.f16 " + eight + ", [%p0], 16;",
           "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 " + four + ", [%p0], 16;",
           "wmma.load.c.sync.aligned.row.m16n16k16.global.f32 " + four + ", [%p0], 16;"}) {
    testing::Device device(
        bench_module(bench_kernel("refused", "  " + text + "\n", "  .reg .b32 %f<32>;\n")));
    const std::string spelling = text.substr(0, text.find(' '));
    EXPECT_NE(refusal_of(device, "refused").find(spelling), std::string::npos)
        << text << " gives: " << refusal_of(device, "refused");
  }
}

std::vector<std::string> tile_instructions() {
  std::vector<std::string> all;
  for (const TileCase& x : cases()) {
    const TileTexts texts = texts_of(x);
    for (const std::string& text :
         {texts.load_a, texts.load_b, texts.load_c, texts.multiply, texts.store}) {
      all.push_back(text);
    }
  }
  return all;
}
const TestedInstructions kTested{tile_instructions};

}  // namespace
}  // namespace simgpu::opcode_tests::tile_test

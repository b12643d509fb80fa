#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "simgpu/exec/opcode_tests/bench.h"
#include "simgpu/exec/opcode_tests/oracle.h"
#include "simgpu/exec/opcode_tests/tested_instructions.h"

/// mma: every shape and type. Fragments are made by the ISA's tables, element by element, and the
/// products compared with sums in a wider type.
namespace simgpu::opcode_tests::mma_test {
namespace {

constexpr std::uint32_t kAll = 0xFFFFFFFFu;

/// "Matrix Fragments for mma…" of the PTX ISA: which element of A and B a lane's i-th one is, by
/// its group g (lane / 4) and its number t in the group. The row of A is g, or g + 8.
struct Layout {
  const char* shape;
  unsigned m, n, k;
  unsigned bits;  ///< of an element of A and B
  bool (*a_is_low)(unsigned i);
  unsigned (*a_column)(unsigned t, unsigned i);
  unsigned (*b_row)(unsigned t, unsigned i);
};

const Layout kLayouts[] = {
    {"m16n8k8", 16, 8, 8, 16, [](unsigned i) { return i < 2; },
     [](unsigned t, unsigned i) { return t * 2 + (i & 1); },
     [](unsigned t, unsigned i) { return t * 2 + i; }},
    {"m16n8k16", 16, 8, 16, 16, [](unsigned i) { return i < 2 || (4 <= i && i < 6); },
     [](unsigned t, unsigned i) { return i < 4 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8; },
     [](unsigned t, unsigned i) { return i < 2 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8; }},
    {"m16n8k4", 16, 8, 4, 32, [](unsigned i) { return i == 0; },
     [](unsigned t, unsigned) { return t; }, [](unsigned t, unsigned) { return t; }},
    {"m16n8k8", 16, 8, 8, 32, [](unsigned i) { return i == 0 || i == 2; },
     [](unsigned t, unsigned i) { return i < 2 ? t : t + 4; },
     [](unsigned t, unsigned i) { return i == 0 ? t : t + 4; }},
    {"m8n8k4", 8, 8, 4, 64, [](unsigned) { return true; }, [](unsigned t, unsigned) { return t; },
     [](unsigned t, unsigned) { return t; }},
    {"m16n8k4", 16, 8, 4, 64, [](unsigned i) { return i == 0; },
     [](unsigned t, unsigned) { return t; }, [](unsigned t, unsigned) { return t; }},
    {"m16n8k8", 16, 8, 8, 64, [](unsigned i) { return i == 0 || i == 2; },
     [](unsigned t, unsigned i) { return i < 2 ? t : t + 4; },
     [](unsigned t, unsigned i) { return t + 4 * i; }},
    {"m16n8k16", 16, 8, 16, 64, [](unsigned i) { return i % 2 == 0; },
     [](unsigned t, unsigned i) { return i % 2 == 0 ? i * 2 + t : i * 2 - 2 + t; },
     [](unsigned t, unsigned i) { return i * 4 + t; }},
    {"m8n8k16", 8, 8, 16, 8, [](unsigned) { return true; },
     [](unsigned t, unsigned i) { return t * 4 + i; },
     [](unsigned t, unsigned i) { return t * 4 + i; }},
    {"m16n8k16", 16, 8, 16, 8, [](unsigned i) { return i < 4; },
     [](unsigned t, unsigned i) { return t * 4 + (i & 3); },
     [](unsigned t, unsigned i) { return t * 4 + i; }},
    {"m16n8k32", 16, 8, 32, 8, [](unsigned i) { return i < 4 || (8 <= i && i < 12); },
     [](unsigned t, unsigned i) { return i < 8 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16; },
     [](unsigned t, unsigned i) { return i < 4 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16; }},
    {"m8n8k32", 8, 8, 32, 4, [](unsigned) { return true; },
     [](unsigned t, unsigned i) { return t * 8 + i; },
     [](unsigned t, unsigned i) { return t * 8 + i; }},
    {"m16n8k32", 16, 8, 32, 4, [](unsigned i) { return i < 8; },
     [](unsigned t, unsigned i) { return t * 8 + (i & 7); },
     [](unsigned t, unsigned i) { return t * 8 + i; }},
    {"m16n8k64", 16, 8, 64, 4, [](unsigned i) { return i < 8 || (16 <= i && i < 24); },
     [](unsigned t, unsigned i) { return i < 16 ? t * 8 + (i & 7) : t * 8 + (i & 7) + 32; },
     [](unsigned t, unsigned i) { return i < 8 ? t * 8 + (i & 7) : t * 8 + (i & 7) + 32; }},
    {"m8n8k128", 8, 8, 128, 1, [](unsigned) { return true; },
     [](unsigned t, unsigned i) { return t * 32 + i; },
     [](unsigned t, unsigned i) { return t * 32 + i; }},
    {"m16n8k128", 16, 8, 128, 1, [](unsigned i) { return i < 32; },
     [](unsigned t, unsigned i) { return t * 32 + (i & 31); },
     [](unsigned t, unsigned i) { return t * 32 + i; }},
    {"m16n8k256", 16, 8, 256, 1, [](unsigned i) { return i < 32 || (64 <= i && i < 96); },
     [](unsigned t, unsigned i) { return i < 64 ? t * 32 + (i & 31) : t * 32 + (i & 31) + 128; },
     [](unsigned t, unsigned i) { return i < 32 ? t * 32 + (i & 31) : t * 32 + (i & 31) + 128; }}};

/// One instruction: a layout with its types.
struct MmaCase {
  const Layout* layout;
  std::string a, b, sum;    ///< types; C and D have one
  std::string before = {};  ///< modifiers before the types: ".satfinite", ".rn"
  std::string after = {};   ///< behind them: ".xor.popc"

  std::string name() const {
    return std::string("mma.sync.aligned.") + layout->shape + ".row.col" + before + "." + sum +
           "." + a + "." + b + "." + sum + after;
  }
  unsigned register_bytes() const { return layout->bits == 64 ? 8 : 4; }
  unsigned a_registers() const {
    return layout->m * layout->k * layout->bits / 256 / register_bytes();
  }
  unsigned b_registers() const {
    return layout->n * layout->k * layout->bits / 256 / register_bytes();
  }
  unsigned sum_registers() const { return layout->m * layout->n / 32 / (sum == "f16" ? 2 : 1); }
};

std::vector<MmaCase> cases() {
  std::vector<MmaCase> all;
  for (const Layout& layout : kLayouts) {
    if (layout.bits == 16) {
      for (const char* sum : {"f16", "f32"}) all.push_back({&layout, "f16", "f16", sum});
      all.push_back({&layout, "bf16", "bf16", "f32"});
    } else if (layout.bits == 32) {
      all.push_back({&layout, "tf32", "tf32", "f32"});
    } else if (layout.bits == 64) {
      for (const char* rounding : {"", ".rn"}) {
        all.push_back({&layout, "f64", "f64", "f64", rounding});
      }
    } else if (layout.bits == 1) {
      for (const char* operation : {".and.popc", ".xor.popc"}) {
        all.push_back({&layout, "b1", "b1", "s32", "", operation});
      }
    } else {
      const std::string bits = std::to_string(layout.bits);
      for (const std::string a : {"s", "u"}) {
        for (const std::string b : {"s", "u"}) {
          for (const char* saturation : {"", ".satfinite"}) {
            all.push_back({&layout, a + bits, b + bits, "s32", saturation});
          }
        }
      }
    }
  }
  return all;
}

std::string list_of(unsigned first, unsigned count, bool wide) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i) {
    text += (i == 0 ? "" : ", ") + std::string(wide ? "%e" : "%f") + std::to_string(first + i);
  }
  return text + "}";
}

/// @param d where the result goes: 40 for registers of its own, 20 for those of C, 0 for those of A
std::string instruction_of(const MmaCase& x, unsigned d = 40) {
  const bool wide = x.layout->bits == 64;
  return x.name() + " " + list_of(d, x.sum_registers(), wide) + ", " +
         list_of(0, x.a_registers(), wide) + ", " + list_of(10, x.b_registers(), wide) + ", " +
         list_of(20, x.sum_registers(), wide) + ";";
}

/// %p0 to %p3: the registers of A, B, C and D, lane after lane.
std::string kernel_of(const std::string& name, const MmaCase& x, unsigned d) {
  const bool wide = x.layout->bits == 64;
  const std::string prefix = wide ? "%e" : "%f";
  const auto move = [&](const std::string& parameter, unsigned first, unsigned count, bool load) {
    const unsigned bytes = x.register_bytes();
    std::string text = "  mul.wide.u32 %d0, %lane, " + std::to_string(bytes * count) +
                       ";\n  add.u64 %d0, %d0, " + parameter + ";\n";
    for (unsigned i = 0; i < count; ++i) {
      const std::string type = wide ? ".b64 " : ".b32 ";
      const std::string place = "[%d0+" + std::to_string(bytes * i) + "]";
      const std::string value = prefix + std::to_string(first + i);
      text += load ? "  ld.global" + type + value + ", " + place + ";\n"
                   : "  st.global" + type + place + ", " + value + ";\n";
    }
    return text;
  };
  return bench_kernel(name,
                      move("%p0", 0, x.a_registers(), true) +
                          move("%p1", 10, x.b_registers(), true) +
                          move("%p2", 20, x.sum_registers(), true) + "  " + instruction_of(x, d) +
                          "\n" + move("%p3", d, x.sum_registers(), false),
                      "  .reg .b32 %f<64>;\n  .reg .b64 %e<64>;\n");
}

/// A fragment's registers, lane after lane.
class Fragment {
 public:
  Fragment(unsigned registers, unsigned register_bytes)
      : lane_bytes_(registers * register_bytes), bytes_(32 * lane_bytes_) {}
  explicit Fragment(std::vector<std::uint8_t> bytes)
      : lane_bytes_(static_cast<unsigned>(bytes.size() / 32)), bytes_(std::move(bytes)) {}

  const std::vector<std::uint8_t>& bytes() const { return bytes_; }
  void set(unsigned lane, unsigned i, unsigned bits, std::uint64_t value) {
    if (bits >= 8) {
      std::memcpy(&bytes_[lane * lane_bytes_ + i * bits / 8], &value, bits / 8);
      return;
    }
    bytes_[lane * lane_bytes_ + i * bits / 8] |= static_cast<std::uint8_t>(value << i * bits % 8);
  }
  std::uint64_t get(unsigned lane, unsigned i, unsigned bits) const {
    std::uint64_t value = 0;
    std::memcpy(&value, &bytes_[lane * lane_bytes_ + i * bits / 8], bits / 8);
    return value;
  }

 private:
  unsigned lane_bytes_;
  std::vector<std::uint8_t> bytes_;
};

unsigned bits_of(const std::string& type) {
  if (type == "tf32") return 32;
  return width_of(type[0] == 'b' && type != "b1" ? type.substr(1) : type);
}

bool is_float(const std::string& type) {
  return type[0] == 'f' || type == "bf16" || type == "tf32";
}

/// A random element: floats of magnitude 2^-6 to 2, integers of any bits, C near the limits.
std::uint64_t element(const std::string& type, std::uint64_t random) {
  if (!is_float(type)) {
    if (type == "s32" && random % 4 != 0)
      return 0x7fffffc0u + random % 64 + (random >> 20) % 2 * 64;
    return random & ((std::uint64_t{1} << bits_of(type)) - 1);
  }
  const double magnitude = std::ldexp(1.0 + static_cast<double>(random % 1024) / 1024,
                                      -static_cast<int>(random >> 20 & 3) * 2);
  const double value = (random >> 30 & 1) != 0 ? -magnitude : magnitude;
  if (type == "f64") return raw(value + static_cast<double>(random >> 32) * 0x1p-60);
  if (bits_of(type) == 32) return raw(static_cast<float>(value)) + (random >> 32 & 0x1fff);
  return HalfFormat::named(type).round(value, "rn", false);
}

/// Its value, in a type that holds every product and sum of the tests.
Quad value_of(const std::string& type, std::uint64_t bits) {
  if (type == "f64") return f64_of(bits);
  if (type == "f32") return f32_of(bits);
  // A tensor core looks at 19 bits of a tf32 operand.
  if (type == "tf32") return f32_of(bits & 0xffffe000u);
  if (bits_of(type) == 16) return HalfFormat::named(type).decode(bits);
  const auto value = static_cast<std::int64_t>(bits);
  const std::int64_t range = std::int64_t{1} << bits_of(type);
  return type[0] == 's' && value >= range / 2 ? value - range : value;
}

struct Matrix {
  unsigned columns;
  std::vector<std::uint64_t> elements;
  Matrix(unsigned rows, unsigned columns_of_it, const std::string& type, std::uint64_t seed)
      : columns(columns_of_it), elements(random_values(rows * columns_of_it, seed)) {
    for (std::uint64_t& at : elements) at = element(type, at);
  }
  std::uint64_t at(unsigned row, unsigned column) const { return elements[row * columns + column]; }
};

/// C and D: "row = groupID (+ 8), col = threadID_in_group * 2 + (i & 1)".
struct SumPlace {
  unsigned row, column;
  SumPlace(unsigned lane, unsigned i)
      : row(i < 2 ? lane / 4 : lane / 4 + 8), column(lane % 4 * 2 + (i & 1)) {}
};

void expect_product(const MmaCase& x, const Matrix& a, const Matrix& b, const Matrix& c,
                    const Fragment& d) {
  const Layout& layout = *x.layout;
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < layout.m * layout.n / 32; ++i) {
      const SumPlace at(lane, i);
      Quad sum = value_of(x.sum, c.at(at.row, at.column));
      Quad magnitudes = sum < 0 ? -sum : sum;
      for (unsigned k = 0; k < layout.k; ++k) {
        const std::uint64_t left = a.at(at.row, k);
        const std::uint64_t right = b.at(k, at.column);
        Quad product = value_of(x.a, left) * value_of(x.b, right);
        if (x.after == ".xor.popc") product = left != right ? 1 : 0;
        sum += product;
        magnitudes += product < 0 ? -product : product;
      }
      const std::uint64_t bits = d.get(lane, i, bits_of(x.sum));
      SCOPED_TRACE("row " + std::to_string(at.row) + ", column " + std::to_string(at.column));
      if (x.sum == "s32") {
        auto exact = static_cast<std::int64_t>(sum);
        if (x.before == ".satfinite") exact = std::clamp<std::int64_t>(exact, INT32_MIN, INT32_MAX);
        ASSERT_EQ(static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(exact));
        continue;
      }
      // Each of k steps rounds the running sum, to f32 or f64; then once to f16.
      const double ulp = x.sum == "f64" ? 0x1p-53 : 0x1p-24;
      const auto all = static_cast<double>(magnitudes);
      const double bound = layout.k * ulp * all + (x.sum == "f16" ? 0x1p-11 * all : 0);
      const Quad error = value_of(x.sum, bits) - sum;
      ASSERT_TRUE(error <= bound && -error <= bound) << static_cast<double>(value_of(x.sum, bits))
                                                     << " instead of " << static_cast<double>(sum);
    }
  }
}

void expect_right(testing::Device& device, const std::string& kernel, const MmaCase& x,
                  std::uint64_t seed) {
  const Layout& layout = *x.layout;
  const Matrix a(layout.m, layout.k, x.a, seed);
  const Matrix b(layout.k, layout.n, x.b, seed + 1);
  const Matrix c(layout.m, layout.n, x.sum, seed + 2);
  Fragment in_a(x.a_registers(), x.register_bytes());
  Fragment in_b(x.b_registers(), x.register_bytes());
  Fragment in_c(x.sum_registers(), x.register_bytes());
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned g = lane / 4;
    const unsigned t = lane % 4;
    for (unsigned i = 0; i < layout.m * layout.k / 32; ++i) {
      in_a.set(lane, i, layout.bits, a.at(layout.a_is_low(i) ? g : g + 8, layout.a_column(t, i)));
    }
    for (unsigned i = 0; i < layout.n * layout.k / 32; ++i) {
      in_b.set(lane, i, layout.bits, b.at(layout.b_row(t, i), g));
    }
    for (unsigned i = 0; i < layout.m * layout.n / 32; ++i) {
      const SumPlace at(lane, i);
      in_c.set(lane, i, bits_of(x.sum), c.at(at.row, at.column));
    }
  }
  const std::uint64_t d = device.put(std::vector<std::uint8_t>(in_c.bytes().size()));
  const LaunchResult result =
      device.run(kernel, {}, device.put(in_a.bytes()), device.put(in_b.bytes()),
                 device.put(in_c.bytes()), d, d, std::uint64_t{kAll});
  ASSERT_EQ(trouble(result), "");
  expect_product(x, a, b, c, Fragment(device.get<std::uint8_t>(d, in_c.bytes().size())));
  const std::string type = is_float(x.a) ? (x.a == "f16"   ? "fp16"
                                            : x.a == "f64" ? "fp64"
                                                           : x.a)
                                         : "int8";
  EXPECT_EQ(result.counters.flops.at(type + "_tensor"), 2 * layout.m * layout.n * layout.k);
  EXPECT_EQ(result.counters.instructions_by_class.at("tensor"), 1u);
}

/// Results in registers of their own, in those of C, and in those of A.
TEST(MmaForms, MultiplyFragmentsAsTheIsaLaysThemOut) {
  const std::vector<MmaCase> all = cases();
  for (const unsigned d : {40U, 20U, 0U}) {
    std::string kernels;
    for (std::size_t i = 0; i < all.size(); ++i) {
      kernels += kernel_of("mma_" + std::to_string(i), all[i], d);
    }
    testing::Device device(bench_module(kernels));
    for (std::size_t i = 0; i < all.size(); ++i) {
      SCOPED_TRACE(instruction_of(all[i], d));
      const std::string kernel = "mma_" + std::to_string(i);
      ASSERT_EQ(refusal_of(device, kernel), "");
      for (const std::uint64_t seed : {1000 * i, 1000 * i + 500}) {
        expect_right(device, kernel, all[i], seed);
        if (HasFatalFailure()) return;
      }
    }
  }
}

/// Row 0 of D for one pair of elements: A[0][0] * B[0][0] + C[0][0].
std::uint32_t one_product(const MmaCase& x, std::uint64_t a, std::uint64_t b, std::uint32_t c) {
  testing::Device device(bench_module(kernel_of("one", x, 40)));
  Fragment in_a(x.a_registers(), 4);
  Fragment in_b(x.b_registers(), 4);
  Fragment in_c(x.sum_registers(), 4);
  in_a.set(0, 0, x.layout->bits, a);
  in_b.set(0, 0, x.layout->bits, b);
  in_c.set(0, 0, bits_of(x.sum), c);
  const std::uint64_t d = device.put(std::vector<std::uint8_t>(in_c.bytes().size()));
  device.run("one", {}, device.put(in_a.bytes()), device.put(in_b.bytes()),
             device.put(in_c.bytes()), d, d, std::uint64_t{kAll});
  const Fragment result(device.get<std::uint8_t>(d, in_c.bytes().size()));
  return static_cast<std::uint32_t>(result.get(0, 0, bits_of(x.sum)));
}

TEST(MmaForms, KeepSubnormalsInfinitiesAndSignedZerosAndMakeOneNan) {
  const MmaCase f16{&kLayouts[1], "f16", "f16", "f32"};
  EXPECT_EQ(f32_of(one_product(f16, 0x0001, 0x3c00, 0)), 0x1p-24f);
  EXPECT_EQ(f32_of(one_product(f16, 0x7c00, 0x3c00, 0)), INFINITY);
  EXPECT_EQ(one_product(f16, 0x7c00, 0x0000, 0), 0x7fffffffu);
  EXPECT_EQ(one_product(f16, 0x7e01, 0x3c00, 0), 0x7fffffffu);
  EXPECT_EQ(one_product(f16, 0x3c00, 0x3c00, raw(-INFINITY)), raw(-INFINITY));
  EXPECT_EQ(f32_of(one_product(f16, 0x7bff, 0x7bff, 0)), 65504.0f * 65504.0f);
  const MmaCase bf16{&kLayouts[1], "bf16", "bf16", "f32"};
  EXPECT_EQ(f32_of(one_product(bf16, 0x0001, 0x3f80, 0)), 0x1p-133f);
  EXPECT_EQ(f32_of(one_product(bf16, 0x7f7f, 0x7f7f, 0)), INFINITY);
  const MmaCase to_f16{&kLayouts[1], "f16", "f16", "f16"};
  EXPECT_EQ(one_product(to_f16, 0x7bff, 0x4000, 0), 0x7c00u) << "too large for f16";
  EXPECT_EQ(one_product(to_f16, 0x7c00, 0x0000, 0), 0x7fffu);
}

/// 2048 + 1 + 1 is 2050 if the sum is kept in f32, but 2048 if each step rounds to f16.
TEST(MmaForms, RoundF16SumsOnceAtTheEnd) {
  const MmaCase x{&kLayouts[1], "f16", "f16", "f16"};
  testing::Device device(bench_module(kernel_of("sums", x, 40)));
  Fragment a(x.a_registers(), 4);
  Fragment b(x.b_registers(), 4);
  Fragment c(x.sum_registers(), 4);
  for (unsigned i = 0; i < 2; ++i) {
    a.set(0, i, 16, 0x3c00);
    b.set(0, i, 16, 0x3c00);
  }
  c.set(0, 0, 16, 0x6800);
  const std::uint64_t d = device.put(c.bytes());
  device.run("sums", {}, device.put(a.bytes()), device.put(b.bytes()), device.put(c.bytes()), d, d,
             std::uint64_t{kAll});
  const Fragment result(device.get<std::uint8_t>(d, c.bytes().size()));
  EXPECT_EQ(HalfFormat::f16().decode(result.get(0, 0, 16)), 2050.0);
}

/// Products of 16 x 16 x 16 by two mma and by one wmma.mma are the same, bit for bit: both from
/// fragments that wmma.load made, which are those of mma.
TEST(MmaForms, AgreeWithWmma) {
  const std::string eight = "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}";
  const std::string load_inputs =
      "  wmma.load.a.sync.aligned.row.m16n16k16.global.f16 " + eight +
      ", [%p0], 16;\n  wmma.load.b.sync.aligned.col.m16n16k16.global.f16 {%f8, %f9, %f10, %f11, "
      "%f12, %f13, %f14, %f15}, [%p1], 16;\n"
      "  wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {%f16, %f17, %f18, %f19, %f20, %f21, "
      "%f22, %f23}, [%p2], 16;\n";
  const std::string store =
      "  wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%p3], {%f16, %f17, %f18, %f19, %f20, "
      "%f21, %f22, %f23}, 16;\n";
  const std::string by_wmma =
      "  wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f16, %f17, %f18, %f19, %f20, %f21, "
      "%f22, %f23}, " +
      eight +
      ", {%f8, %f9, %f10, %f11, %f12, %f13, %f14, %f15}, {%f16, %f17, %f18, %f19, %f20, %f21, "
      "%f22, %f23};\n";
  const std::string mma = "  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 ";
  const std::string by_mma =
      mma +
      "{%f16, %f17, %f18, %f19}, {%f0, %f1, %f2, %f3}, {%f8, %f9}, {%f16, %f17, %f18, %f19};\n" +
      mma +
      "{%f20, %f21, %f22, %f23}, {%f0, %f1, %f2, %f3}, {%f10, %f11}, {%f20, %f21, %f22, %f23};\n";
  const std::string registers = "  .reg .b32 %f<32>;\n";
  testing::Device device(
      bench_module(bench_kernel("by_wmma", load_inputs + by_wmma + store, registers) +
                   bench_kernel("by_mma", load_inputs + by_mma + store, registers)));
  std::vector<std::uint16_t> halves[2];
  std::vector<std::uint32_t> words;
  for (unsigned matrix = 0; matrix < 2; ++matrix) {
    for (const std::uint64_t random : random_values(256, matrix)) {
      halves[matrix].push_back(static_cast<std::uint16_t>(element("f16", random)));
    }
  }
  for (const std::uint64_t random : random_values(256, 2)) {
    words.push_back(static_cast<std::uint32_t>(element("f32", random)));
  }
  std::vector<std::uint32_t> results[2];
  for (unsigned i = 0; i < 2; ++i) {
    const std::uint64_t d = device.put(std::vector<std::uint32_t>(256));
    ASSERT_EQ(
        trouble(device.run(i == 0 ? "by_wmma" : "by_mma", {}, device.put(halves[0]),
                           device.put(halves[1]), device.put(words), d, d, std::uint64_t{kAll})),
        "");
    results[i] = device.get<std::uint32_t>(d, 256);
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST(MmaForms, NeedTheWholeWarp) {
  const MmaCase x{&kLayouts[1], "f16", "f16", "f32"};
  std::string kernel = kernel_of("part", x, 40);
  kernel.replace(kernel.find("  mma.sync"), 2, "  @%q0 ");
  testing::Device device(bench_module(kernel));
  const std::uint64_t data = device.put(std::vector<std::uint8_t>(1024));
  const LaunchResult result =
      device.run("part", {}, data, data, data, data, data, std::uint64_t{0x7fffffff});
  EXPECT_EQ(result.status, LaunchStatus::launch_failure);
  // The lane that leaves the product out stores what it has not got.
  EXPECT_EQ(result.findings.front().code, Code("RL0211"));
  EXPECT_EQ(result.findings.back().code, Code("RL0305"));
}

TEST(MmaForms, FormsWithoutCodeAreRefusedByName) {
  const std::string four = "{%f0, %f1, %f2, %f3}";
  const std::string two = "{%f4, %f5}";
  const std::string common = " " + four + ", " + four + ", " + two + ", " + four;
  for (const std::string& text : std::vector<std::string>{
           "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32" + common,
           "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32" + common,
           "mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32" + common,
           "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f32" + common,
           "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32" + common,
           "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16" + common,
           "mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32" + common,
           "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32" + common,
           "mma.sync.aligned.m16n8k16.row.col.rz.f64.f64.f64.f64" + common,
           "mma.sync.aligned.m16n8k16.row.col.rn.f32.bf16.bf16.f32" + common,
           "mma.sync.aligned.m16n8k32.row.col.s32.s8.s4.s32" + common,
           "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32" + common,
           "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32.xor.popc" + common,
           "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32" + common + ", %f9, 0",
           "mma.aligned.m16n8k16.row.col.f32.f16.f16.f32" + common,
           "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32" + common}) {
    testing::Device device(
        bench_module(bench_kernel("refused", "  " + text + ";\n", "  .reg .b32 %f<32>;\n")));
    const std::string spelling = text.substr(0, text.find(' '));
    EXPECT_NE(refusal_of(device, "refused").find(spelling), std::string::npos)
        << text << " gives: " << refusal_of(device, "refused");
  }
}

std::vector<std::string> mma_instructions() {
  std::vector<std::string> all;
  for (const MmaCase& x : cases()) all.push_back(instruction_of(x));
  return all;
}
const TestedInstructions kTested{mma_instructions};

}  // namespace
}  // namespace simgpu::opcode_tests::mma_test

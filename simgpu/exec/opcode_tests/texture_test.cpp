#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "simgpu/exec/opcode_tests/bench.h"
#include "simgpu/exec/opcode_tests/tested_instructions.h"

/// tex, suld and sust in every geometry: which element a lane reads or writes. What filters and
/// address modes make of it is in runtime/testdata/textures.cu.
namespace simgpu::opcode_tests::texture_test {
namespace {

constexpr std::uint64_t kAll = 0xFFFFFFFF, kSome = 0x0F3355A1;
constexpr std::uint32_t kWidth = 5, kHeight = 4, kSlices = 12;

/// How a geometry's coordinates are made of %r1 to %r3 (x, y, z) or %f1 to %f3.
struct Shape {
  std::string name;
  std::string integers;  ///< empty: it has none
  std::string floats;
  bool has_rows = true, has_slices = true;
};

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> kShapes{{"1d", "{%r1}", "{%f1}", false, false},
                                          {"2d", "{%r1, %r2}", "{%f1, %f2}", true, false},
                                          {"3d", "{%r1, %r2, %r3, %r3}", "{%f1, %f2, %f3, %f3}"},
                                          {"a1d", "{%r3, %r1}", "{%r3, %f1}", false, true},
                                          {"a2d", "{%r3, %r1, %r2, %r2}", "{%r3, %f1, %f2, %f2}"},
                                          {"cube", "", "{%f4, %f5, %f6, %f6}"},
                                          {"acube", "", "{%r4, %f4, %f5, %f6}"}};
  return kShapes;
}

bool is_cube(const Shape& shape) { return shape.name.ends_with("cube"); }

/// x, y and z of a lane, as integers, in the middle of the element, and as the direction of face z
/// % 6 of cube z / 6.
const char* const kCoordinates =
    "  rem.u32 %r1, %lane, 5;\n  rem.u32 %r2, %lane, 4;\n  rem.u32 %r3, %lane, 12;\n"
    "  cvt.rn.f32.u32 %f1, %r1;\n  cvt.rn.f32.u32 %f2, %r2;\n  cvt.rn.f32.u32 %f3, %r3;\n"
    "  add.f32 %f1, %f1, 0f3F000000;\n  add.f32 %f2, %f2, 0f3F000000;\n"
    "  add.f32 %f3, %f3, 0f3F000000;\n"
    "  div.u32 %r4, %r3, 6;\n  rem.u32 %r5, %r3, 6;\n  and.b32 %r6, %r5, 1;\n"
    "  setp.ne.u32 %q1, %r6, 0;\n  selp.f32 %f7, 0fC0000000, 0f40000000, %q1;\n"  // -2 or 2
    "  shr.u32 %r6, %r5, 1;\n"
    "  setp.eq.u32 %q2, %r6, 0;\n  selp.f32 %f4, %f7, 0f00000000, %q2;\n"
    "  setp.eq.u32 %q2, %r6, 1;\n  selp.f32 %f5, %f7, 0f00000000, %q2;\n"
    "  setp.eq.u32 %q2, %r6, 2;\n  selp.f32 %f6, %f7, 0f00000000, %q2;\n";

const char* const kDeclarations = "  .reg .f32 %f<20>;\n";

std::string fetch_text(const Shape& shape, const std::string& type, bool integers) {
  const std::string reg = type == "f32" ? "%f1" : "%r1";
  return "tex." + shape.name + ".v4." + type + "." + (integers ? "s32 {" : "f32 {") + reg + "0, " +
         reg + "1, " + reg + "2, " + reg + "3}, [%p0, " +
         (integers ? shape.integers : shape.floats) + "];";
}

std::string fetch_kernel(const Shape& shape, const std::string& type, bool integers) {
  std::string body = kCoordinates;
  for (const char* reg : {"10", "11", "12", "13"}) {
    body += std::string("  mov.b32 %r") + reg + ", 77;\n  mov.b32 %f" + reg + ", %r" + reg + ";\n";
  }
  body += "  @%q0 " + fetch_text(shape, type, integers) + "\n";
  for (const unsigned i : {0U, 1U, 2U, 3U}) {
    const std::string number = "1" + std::to_string(i);
    if (type == "f32") body += "  mov.b32 %r" + number + ", %f" + number + ";\n";
    body += give("r" + number, "p1", i, 4);
  }
  return bench_kernel("fetch", body, kDeclarations);
}

Image plain_image(std::uint64_t address) {
  return {.address = address,
          .pitch = kWidth * 4,
          .slice_pitch = kWidth * kHeight * 4,
          .width = kWidth,
          .height = kHeight,
          .depth = kSlices,
          .kind = ChannelKind::unsigned_integer,
          .outside = {AddressMode::clamp, AddressMode::clamp, AddressMode::clamp}};
}

std::uint32_t value_at(std::uint32_t index) { return index * 2654435761u; }

/// The element of a lane, as the coordinates above say it.
std::uint32_t element_of(const Shape& shape, unsigned lane) {
  std::uint32_t x = lane % 5, y = shape.has_rows ? lane % 4 : 0;
  std::uint32_t z = shape.has_slices ? lane % 12 : 0;
  if (is_cube(shape)) {
    x = kWidth / 2;  // the middle of a face
    y = kHeight / 2;
    if (shape.name == "cube") z %= 6;
  }
  return (z * kHeight + y) * kWidth + x;
}

TEST(TextureForms, FetchTheElementOfTheirCoordinates) {
  std::vector<std::uint32_t> values;
  for (std::uint32_t i = 0; i < kWidth * kHeight * kSlices; ++i) values.push_back(value_at(i));
  for (const Shape& shape : shapes()) {
    for (const char* type : {"f32", "s32", "u32"}) {
      for (const bool integers : {false, true}) {
        if (integers && shape.integers.empty()) continue;
        SCOPED_TRACE(fetch_text(shape, type, integers));
        testing::Device device(bench_module(fetch_kernel(shape, type, integers)));
        ASSERT_EQ(refusal_of(device, "fetch"), "");
        const std::uint64_t out = device.put(std::vector<std::uint64_t>(4 * kWarpLanes));
        const std::uint64_t texture = device.memory().images().add(plain_image(device.put(values)));
        for (const std::uint64_t mask : {kAll, kSome}) {
          ASSERT_EQ(trouble(device.run("fetch", {}, texture, out, out, out, out, mask)), "");
          const auto got = device.get<std::uint64_t>(out, 4 * kWarpLanes);
          for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
            const bool takes_part = (mask >> lane & 1) != 0;
            const std::uint32_t expected = takes_part ? value_at(element_of(shape, lane)) : 77;
            ASSERT_EQ(got[4 * lane], expected) << "lane " << lane;
            ASSERT_EQ(got[4 * lane + 1], takes_part ? 0u : 77u);
            ASSERT_EQ(got[4 * lane + 3], takes_part ? 0u : 77u);
          }
        }
      }
    }
  }
}

// Surfaces: rows of 32 elements of 16 bytes.

struct SurfaceCase {
  unsigned bits = 32, count = 1;

  std::string suffix() const {
    return (count == 1 ? "" : ".v" + std::to_string(count)) + ".b" + std::to_string(bits) + ".";
  }
  unsigned bytes() const { return bits / 8 * count; }
  std::string registers(unsigned first) const {
    const std::string kind = bits == 64 ? "%d" : bits == 32 ? "%r" : "%h";
    std::string text;
    for (unsigned i = 0; i < count; ++i) {
      text += (i == 0 ? "" : ", ") + kind + std::to_string(first + i);
    }
    return "{" + text + "}";
  }
};

std::vector<SurfaceCase> surface_cases() {
  std::vector<SurfaceCase> cases;
  for (const unsigned bits : {8U, 16U, 32U, 64U}) {
    for (const unsigned count : {1U, 2U, 4U}) {
      if (bits * count <= 128) cases.push_back({bits, count});
    }
  }
  return cases;
}

std::string access_text(bool load, const Shape& shape, const SurfaceCase& x,
                        const std::string& outside) {
  const std::string place = "[%p0, " + shape.integers + "]";
  return load ? "suld.b." + shape.name + x.suffix() + outside + " " + x.registers(4) + ", " + place
              : "sust.b." + shape.name + x.suffix() + outside + " " + place + ", " + x.registers(0);
}

/// Registers 0 to 3 of every kind hold what the lane stores.
std::string surface_kernel(const Shape& shape, const SurfaceCase& x, const std::string& first_byte,
                           const std::string& outside) {
  std::string body = "  rem.u32 %r12, %lane, 4;\n  rem.u32 %r13, %lane, 12;\n";
  for (const char* i : {"0", "1", "2", "3"}) {
    body += std::string("  mad.lo.u32 %r14, %lane, 4, ") + i +
            ";\n  mul.lo.u32 %r14, %r14, 0x9E3779B1;\n  mul.wide.u32 %d" + i +
            ", %r14, 0x9E3779B1;\n  cvt.u16.u32 %h" + i + ", %r14;\n  and.b16 %h" + i + ", %h" + i +
            ", " + (x.bits == 8 ? "255" : "65535") + ";\n";
  }
  // The 32-bit values last: %r1 to %r3 are the coordinates of the names above.
  Shape own = shape;
  for (const auto& [from, to] : {std::pair{"%r1", "%r15"}, {"%r2", "%r12"}, {"%r3", "%r13"}}) {
    for (std::size_t at = 0; (at = own.integers.find(from, at)) != std::string::npos; at += 4) {
      own.integers.replace(at, 3, to);
    }
  }
  for (const char* i : {"0", "1", "2", "3"}) {
    body += std::string("  cvt.u32.u64 %r") + i + ", %d" + i + ";\n";
  }
  body += "  mul.lo.u32 %r15, %lane, " + std::to_string(x.bytes()) + ";\n  add.u32 %r15, %r15, " +
          first_byte + ";\n  " + access_text(false, own, x, outside) + ";\n  " +
          access_text(true, own, x, outside) + ";\n";
  const std::string kind = x.bits == 64 ? "d" : x.bits == 32 ? "r" : "h";
  for (unsigned i = 0; i < x.count; ++i) body += give(kind + std::to_string(4 + i), "p1", i, 4);
  return bench_kernel("access", body, kDeclarations);
}

std::uint64_t stored(const SurfaceCase& x, unsigned lane, unsigned i) {
  const std::uint32_t narrow = (lane * 4 + i) * 0x9E3779B1u;
  const std::uint64_t wide = std::uint64_t{narrow} * 0x9E3779B1u;
  if (x.bits == 64) return wide;
  if (x.bits == 32) return static_cast<std::uint32_t>(wide);
  return narrow & (x.bits == 8 ? 0xFFu : 0xFFFFu);
}

constexpr std::uint64_t kRow = 512, kSlice = kRow * kHeight;

Image surface_image(std::uint64_t address) {
  return {.address = address,
          .pitch = kRow,
          .slice_pitch = kSlice,
          .width = 32,
          .height = kHeight,
          .depth = kSlices,
          .channels = 4,
          .kind = ChannelKind::unsigned_integer,
          .is_surface = 1};
}

TEST(SurfaceForms, StoreAndLoadAtTheirCoordinates) {
  for (const Shape& shape : shapes()) {
    if (is_cube(shape)) continue;
    for (const SurfaceCase& x : surface_cases()) {
      SCOPED_TRACE(access_text(false, shape, x, "trap"));
      testing::Device device(bench_module(surface_kernel(shape, x, "0", "trap")));
      ASSERT_EQ(refusal_of(device, "access"), "");
      const std::uint64_t out = device.put(std::vector<std::uint64_t>(4 * kWarpLanes));
      const std::uint64_t bytes = device.put(std::vector<std::uint8_t>(kSlice * kSlices));
      const std::uint64_t surface = device.memory().images().add(surface_image(bytes));
      ASSERT_EQ(trouble(device.run("access", {}, surface, out, out, out, out, kAll)), "");
      const auto got = device.get<std::uint64_t>(out, 4 * kWarpLanes);
      const auto image = device.get<std::uint8_t>(bytes, kSlice * kSlices);
      std::size_t written = 0;
      for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
        const std::uint64_t at = (shape.has_slices ? lane % 12 : 0) * kSlice +
                                 (shape.has_rows ? lane % 4 : 0) * kRow + lane * x.bytes();
        for (unsigned i = 0; i < x.count; ++i) {
          const std::uint64_t expected = stored(x, lane, i);
          ASSERT_EQ(got[4 * lane + i], expected) << "lane " << lane;
          ASSERT_EQ(std::memcmp(&image[at + i * x.bits / 8], &expected, x.bits / 8), 0);
        }
        written += x.bytes();
      }
      const auto changed = static_cast<std::size_t>(
          std::count_if(image.begin(), image.end(), [](std::uint8_t byte) { return byte != 0; }));
      EXPECT_LE(changed, written) << "nothing else is written";
    }
  }
}

TEST(SurfaceForms, TreatWhatLiesOutsideAsTheirModifierSays) {
  const SurfaceCase x{32, 1};
  const Shape& shape = shapes()[1];
  for (const char* outside : {"zero", "clamp", "trap"}) {
    SCOPED_TRACE(outside);
    testing::Device device(bench_module(surface_kernel(shape, x, "508", outside)));
    const std::uint64_t out = device.put(std::vector<std::uint64_t>(4 * kWarpLanes, 9));
    const std::uint64_t bytes = device.put(std::vector<std::uint8_t>(kSlice * kSlices, 1));
    const std::uint64_t surface = device.memory().images().add(surface_image(bytes));
    // Lane 0 is at the last element of its row, all others are behind it.
    const LaunchResult result = device.run("access", {}, surface, out, out, out, out, kAll);
    if (std::string_view(outside) == "trap") {
      EXPECT_EQ(result.status, LaunchStatus::illegal_address);
      continue;
    }
    ASSERT_EQ(result.status, LaunchStatus::ok);
    const auto got = device.get<std::uint64_t>(out, 4 * kWarpLanes);
    const bool zero = std::string_view(outside) == "zero";
    EXPECT_EQ(got[0], stored(x, zero ? 0 : 28, 0)) << "of lanes at one place the highest wins";
    EXPECT_EQ(got[4 * 5], zero ? 0 : stored(x, 29, 0));
  }
}

TEST(TextureForms, EndTheLaunchForAHandleOfNothingOrOfTheOtherKind) {
  testing::Device device(bench_module(fetch_kernel(shapes()[1], "f32", false)));
  const std::uint64_t out = device.put(std::vector<std::uint64_t>(4 * kWarpLanes));
  const std::uint64_t surface = device.memory().images().add(surface_image(out));
  for (const std::uint64_t handle : {std::uint64_t{0}, ~std::uint64_t{0}, surface}) {
    const LaunchResult result = device.run("fetch", {}, handle, out, out, out, out, kAll);
    EXPECT_EQ(result.status, LaunchStatus::illegal_address);
    ASSERT_EQ(result.findings.size(), 1u);
    EXPECT_EQ(result.findings[0].code, Code("RL0201"));
  }
}

std::vector<std::string> texture_instructions() {
  std::vector<std::string> instructions;
  for (const Shape& shape : shapes()) {
    for (const char* type : {"f32", "s32", "u32"}) {
      instructions.push_back(fetch_text(shape, type, false));
      if (!shape.integers.empty()) instructions.push_back(fetch_text(shape, type, true));
    }
    if (is_cube(shape)) continue;
    for (const SurfaceCase& x : surface_cases()) {
      for (const char* outside : {"trap", "clamp", "zero"}) {
        instructions.push_back(access_text(true, shape, x, outside) + ";");
        instructions.push_back(access_text(false, shape, x, outside) + ";");
      }
    }
  }
  return instructions;
}
const TestedInstructions kTested{texture_instructions};

}  // namespace
}  // namespace simgpu::opcode_tests::texture_test

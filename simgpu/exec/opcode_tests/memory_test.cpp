#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "simgpu/exec/opcode_tests/bench.h"
#include "simgpu/exec/opcode_tests/form.h"
#include "simgpu/exec/opcode_tests/oracle.h"
#include "simgpu/exec/opcode_tests/tested_instructions.h"

/// Loads and stores of every type in every space, against copies byte by byte.
namespace simgpu::opcode_tests::memory_test {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Values = std::vector<std::uint64_t>;

constexpr std::uint32_t kAll = 0xFFFFFFFFu;
constexpr unsigned kBytes = 512;  ///< of each space: 32 times the widest access
constexpr std::uint64_t kUntouchedValue = 0x5a5a5a5a5a5a5a5au;

/// Where the lanes of a generic access point to.
enum class Home { global, shared, local };

struct Space {
  std::string name;      ///< of the tests
  std::string modifier;  ///< ".global", or nothing for generic
  Home (*home)(unsigned lane);
  bool stores = true;
};

Home in_global(unsigned) { return Home::global; }
Home in_shared(unsigned) { return Home::shared; }
Home in_local(unsigned) { return Home::local; }
Home everywhere(unsigned lane) {
  return lane % 3 == 0 ? Home::global : lane % 3 == 1 ? Home::shared : Home::local;
}

const std::vector<Space>& spaces() {
  static const std::vector<Space> kAllOfThem{{"Global", ".global", in_global},
                                             {"Shared", ".shared", in_shared},
                                             {"Local", ".local", in_local},
                                             {"Constant", ".const", in_global, false},
                                             {"Parameter", ".param", in_global, false},
                                             {"GenericToGlobal", "", in_global},
                                             {"GenericToShared", "", in_shared},
                                             {"GenericToLocal", "", in_local},
                                             {"GenericToAll", "", everywhere}};
  return kAllOfThem;
}

/// "ld" + before + space + after + vector + type.
struct Access {
  std::string before, after;
  std::string type;
  unsigned vector = 1;
  unsigned bits = 32;  ///< of the registers

  unsigned size() const { return width_of(type) / 8; }
  unsigned bytes() const { return size() * vector; }
  std::string text(const std::string& opcode, const Space& space) const {
    return opcode + before + space.modifier + after +
           (vector == 1 ? std::string() : ".v" + std::to_string(vector)) + "." + type;
  }
};

std::vector<Access> accesses_of_all_types() {
  std::vector<Access> all;
  for (const unsigned width : {8u, 16u, 32u, 64u}) {
    for (const std::string kind : {"b", "u", "s", "f"}) {
      if (kind == "f" && width < 32) continue;
      for (const unsigned vector : {1u, 2u, 4u}) {
        if (width * vector > 128) continue;
        for (const unsigned bits : {16u, 32u, 64u}) {
          if (bits < width || (kind == "f" && bits != width)) continue;
          all.push_back({"", "", kind + std::to_string(width), vector, bits});
        }
      }
    }
  }
  return all;
}

/// Modifiers that do not change what a program sees.
std::vector<Access> with(const std::vector<std::array<const char*, 2>>& modifiers) {
  std::vector<Access> all;
  for (const auto& [before, after] : modifiers) all.push_back({before, after, "u32", 1, 32});
  return all;
}

std::vector<Access> loads_of(const Space& space) {
  std::vector<Access> all = accesses_of_all_types();
  const auto add = [&](const std::vector<Access>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  if (space.modifier == ".const" || space.modifier == ".param") return all;
  add(with({{".weak", ""}}));
  if (space.modifier == ".global") {
    add(with({{"", ".nc"}, {"", ".ca.nc"}, {"", ".cg.nc"}, {"", ".nc.L1::no_allocate"}}));
  }
  if (space.modifier == ".local") return all;
  add(with({{".volatile", ""},
            {".relaxed.cta", ""},
            {".relaxed.gpu", ""},
            {".relaxed.sys", ""},
            {".acquire.cta", ""},
            {".acquire.gpu", ""},
            {".acquire.sys", ""}}));
  if (space.modifier == ".shared") return all;
  add(with({{"", ".ca"},
            {"", ".cg"},
            {"", ".cs"},
            {"", ".lu"},
            {"", ".cv"},
            {"", ".L1::evict_last"},
            {"", ".L1::evict_first.L2::128B"}}));
  return all;
}

std::vector<Access> stores_of(const Space& space) {
  std::vector<Access> all = accesses_of_all_types();
  const auto add = [&](const std::vector<Access>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  add(with({{".weak", ""}}));
  if (space.modifier == ".local") return all;
  add(with({{".volatile", ""},
            {".relaxed.cta", ""},
            {".relaxed.gpu", ""},
            {".release.cta", ""},
            {".release.gpu", ""},
            {".release.sys", ""}}));
  if (space.modifier == ".shared") return all;
  add(with({{"", ".wb"}, {"", ".cg"}, {"", ".cs"}, {"", ".wt"}, {"", ".L1::evict_first"}}));
  return all;
}

/// "$v": the register or the vector of them, %<d><first> onwards.
std::string registers(const Access& access) {
  const std::string letter = access.bits == 64 ? "d" : access.bits == 32 ? "r" : "h";
  std::string text;
  for (unsigned i = 0; i < access.vector; ++i) {
    text += (i == 0 ? "%" : ", %") + letter + std::to_string(4 + i);
  }
  return access.vector == 1 ? text : "{" + text + "}";
}

std::string register_name(const Access& access, unsigned i) {
  return (access.bits == 64 ? "d" : access.bits == 32 ? "r" : "h") + std::to_string(4 + i);
}

bool is_home(const Space& space, Home home) {
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    if (space.home(lane) == home) return true;
  }
  return false;
}

/// What every kernel begins with: the bytes at %p0 are copied to shared memory, and to each
/// thread's own with a pattern of its own. %d0 is the address for this lane's index, %p1 the array
/// of indexes. Addresses have 16 added, for an offset of -16 in the instruction.
std::string begin(const Space& space, unsigned bytes) {
  std::string text =
      "  mul.wide.u32 %d1, %lane, 16;\n  add.u64 %d2, %p0, %d1;\n"
      "  ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%d2];\n  mov.u64 %d3, tile;\n"
      "  add.u64 %d1, %d3, %d1;\n  st.shared.v4.b32 [%d1], {%r0, %r1, %r2, %r3};\n"
      "  bar.sync 0;\n  mov.u64 %d3, own;\n";
  if (is_home(space, Home::local)) {
    text +=
        "  mul.lo.u32 %r1, %lane, 0x01010101;\n  mov.u32 %r2, 0;\n$copy:\n"
        "  cvt.u64.u32 %d1, %r2;\n  add.u64 %d2, %p0, %d1;\n  ld.global.u32 %r0, [%d2];\n"
        "  xor.b32 %r0, %r0, %r1;\n  add.u64 %d2, %d3, %d1;\n  st.local.u32 [%d2], %r0;\n"
        "  add.u32 %r2, %r2, 4;\n  setp.lt.u32 %q1, %r2, 512;\n  @%q1 bra $copy;\n";
  }
  if (space.modifier == ".const") text += "  mov.u64 %d0, table;\n";
  if (space.modifier == ".param") text += "  mov.b64 %d0, blob;\n";
  if (space.modifier == ".global") text += "  mov.u64 %d0, %p0;\n";
  if (space.modifier == ".shared") text += "  mov.u64 %d0, tile;\n";
  if (space.modifier == ".local") text += "  mov.u64 %d0, own;\n";
  if (space.modifier.empty()) {
    text +=
        "  mov.u64 %d1, tile;\n  cvta.shared.u64 %d1, %d1;\n"
        "  mov.u64 %d2, own;\n  cvta.local.u64 %d2, %d2;\n  cvta.global.u64 %d0, %p0;\n";
    if (!is_home(space, Home::global)) {
      text += is_home(space, Home::shared) ? "  mov.u64 %d0, %d1;\n" : "  mov.u64 %d0, %d2;\n";
    } else if (is_home(space, Home::shared)) {
      text +=
          "  rem.u32 %r0, %lane, 3;\n  setp.eq.u32 %q1, %r0, 1;\n  setp.eq.u32 %q2, %r0, 2;\n"
          "  selp.b64 %d0, %d1, %d0, %q1;\n  selp.b64 %d0, %d2, %d0, %q2;\n";
    }
  }
  return text + take("r0", "p1") + "  mad.wide.u32 %d0, %r0, " + std::to_string(bytes) +
         ", %d0;\n  add.u64 %d0, %d0, 16;\n";
}

std::string load_body(const Space& space, const Access& access) {
  std::string text = begin(space, access.bytes());
  std::string untouched;
  for (unsigned i = 0; i < access.bits / 8; ++i) untouched += "5a";
  for (unsigned i = 0; i < access.vector; ++i) {
    text += "  mov.b" + std::to_string(access.bits) + " %" + register_name(access, i) + ", 0x" +
            untouched + ";\n";
  }
  text += "  @%q0 " + access.text("ld", space) + " " + registers(access) + ", [%d0+-16];\n";
  for (unsigned i = 0; i < access.vector; ++i) {
    text += give(register_name(access, i), "p2", i, access.vector);
  }
  return text;
}

/// The bytes of the lane's space afterwards go to %p3: 512 of a thread's own, or 16 of the tile
/// (in place of the lane's own, where it has none).
std::string store_body(const Space& space, const Access& access) {
  std::string text = begin(space, access.bytes()) + "  mov.u32 %r1, " +
                     std::to_string(8 * access.vector) +
                     ";\n  mad.wide.u32 %d1, %lane, %r1, %p2;\n";
  for (unsigned i = 0; i < access.vector; ++i) {
    text += "  ld.global.b" + std::to_string(access.bits) + " %" + register_name(access, i) +
            ", [%d1+" + std::to_string(8 * i) + "];\n";
  }
  text += "  @%q0 " + access.text("st", space) + " [%d0+-16], " + registers(access) +
          ";\n  bar.sync 0;\n"
          "  mul.wide.u32 %d1, %lane, 16;\n  add.u64 %d2, %p3, %d1;\n  mov.u64 %d3, tile;\n"
          "  add.u64 %d1, %d3, %d1;\n  ld.shared.v4.b32 {%r0, %r1, %r2, %r3}, [%d1];\n"
          "  st.global.v4.b32 [%d2], {%r0, %r1, %r2, %r3};\n";
  if (!is_home(space, Home::local)) return text;
  return text +
         "  mul.wide.u32 %d1, %lane, 512;\n  add.u64 %d1, %d1, 512;\n  add.u64 %d2, %p3, %d1;\n"
         "  mov.u64 %d3, own;\n  mov.u32 %r2, 0;\n$collect:\n  ld.local.u32 %r0, [%d3];\n"
         "  st.global.u32 [%d2], %r0;\n  add.u64 %d3, %d3, 4;\n  add.u64 %d2, %d2, 4;\n"
         "  add.u32 %r2, %r2, 4;\n  setp.lt.u32 %q1, %r2, 512;\n  @%q1 bra $collect;\n";
}

Bytes content() {
  const Values values = random_values(kBytes / 8, 42);
  Bytes bytes(kBytes);
  std::memcpy(bytes.data(), values.data(), kBytes);
  return bytes;
}

std::string module_of(const Space& space, const std::vector<Access>& accesses, bool loads) {
  std::string kernels;
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    std::string kernel =
        bench_kernel("case_" + std::to_string(i),
                     loads ? load_body(space, accesses[i]) : store_body(space, accesses[i]),
                     "  .shared .align 16 .b8 tile[512];\n  .local .align 16 .b8 own[512];\n");
    // After the pointers, so that the kernels share their order of arguments.
    kernel.insert(kernel.find(")\n{"), ", .param .align 16 .b8 blob[512]");
    kernels += kernel;
  }
  std::string table = ".const .align 16 .b8 table[512] = {";
  for (const std::uint8_t byte : content()) table += std::to_string(byte) + ", ";
  table.resize(table.size() - 2);
  return bench_module(kernels, table + "};\n");
}

/// Which element each lane accesses, and which lanes do.
struct Pattern {
  const char* name;
  Values index;
  std::uint32_t executing;
};

std::vector<Pattern> patterns() {
  Values forwards;
  Values backwards;
  Values strided;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    forwards.push_back(lane);
    backwards.push_back(31 - lane);
    strided.push_back(lane * 5 % 32);
  }
  Values random = random_values(kWarpLanes, 5);
  for (std::uint64_t& index : random) index %= 32;
  return {{"one after the other", forwards, kAll},
          {"backwards", backwards, kAll},
          {"with a stride", strided, kAll},
          {"all at one place", Values(kWarpLanes, 3), kAll},
          {"at random", random, kAll},
          {"some lanes, one after the other", forwards, 0xb0c3f71eu},
          {"some lanes at one place", Values(kWarpLanes, 31), 0x10c3f71eu},
          {"one lane", random, 0x00020000u},
          {"no lane", forwards, 0}};
}

/// The memory of one space, as a lane sees it.
struct Images {
  Bytes global = content(), shared = content();
  std::vector<Bytes> local = std::vector<Bytes>(kWarpLanes, content());

  Images() {
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      for (std::uint8_t& byte : local[lane]) byte ^= static_cast<std::uint8_t>(lane);
    }
  }
  Bytes& of(Home home, unsigned lane) {
    return home == Home::global ? global : home == Home::shared ? shared : local[lane];
  }
};

std::uint64_t loaded(const Bytes& bytes, std::size_t at, const Access& access) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < access.size(); ++i) value |= std::uint64_t{bytes[at + i]} << (8 * i);
  const bool negative = access.type[0] == 's' && bytes[at + access.size() - 1] >= 0x80;
  for (unsigned i = access.size(); negative && i < 8; ++i) value |= std::uint64_t{0xff} << (8 * i);
  return cut(static_cast<Wide>(value), access.bits);
}

class LoadForms : public ::testing::TestWithParam<Space> {};
class StoreForms : public ::testing::TestWithParam<Space> {};

std::array<std::byte, kBytes> blob() {
  std::array<std::byte, kBytes> bytes;
  std::memcpy(bytes.data(), content().data(), kBytes);
  return bytes;
}

TEST_P(LoadForms, ExtendToTheirRegisters) {
  const Space& space = GetParam();
  const std::vector<Access> accesses = loads_of(space);
  testing::Device device(module_of(space, accesses, true));
  const std::uint64_t data = device.put(content());
  Images images;
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const Access& access = accesses[i];
    const std::string kernel = "case_" + std::to_string(i);
    SCOPED_TRACE(access.text("ld", space) + " into " + std::to_string(access.bits) + " bits");
    ASSERT_EQ(refusal_of(device, kernel), "");
    for (const Pattern& pattern : patterns()) {
      const std::uint64_t out = device.put(Values(kWarpLanes * access.vector));
      ASSERT_EQ(trouble(device.run(kernel, {}, data, device.put(pattern.index), out, out, out,
                                   std::uint64_t{pattern.executing}, blob())),
                "")
          << pattern.name;
      const Values found = device.get<std::uint64_t>(out, kWarpLanes * access.vector);
      for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
        for (unsigned k = 0; k < access.vector; ++k) {
          const std::size_t at = pattern.index[lane] * access.bytes() + k * access.size();
          const bool executes = (pattern.executing >> lane & 1) != 0;
          ASSERT_EQ(found[lane * access.vector + k],
                    executes ? loaded(images.of(space.home(lane), lane), at, access)
                             : cut(static_cast<Wide>(kUntouchedValue), access.bits))
              << "element " << k << " of lane " << lane << ", " << pattern.name;
        }
      }
    }
  }
}

TEST_P(StoreForms, WriteTheirBytesAndNoOthers) {
  const Space& space = GetParam();
  const std::vector<Access> accesses = stores_of(space);
  testing::Device device(module_of(space, accesses, false));
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const Access& access = accesses[i];
    const std::string kernel = "case_" + std::to_string(i);
    SCOPED_TRACE(access.text("st", space) + " from " + std::to_string(access.bits) + " bits");
    ASSERT_EQ(refusal_of(device, kernel), "");
    const Values values = random_values(kWarpLanes * access.vector, i);
    for (const Pattern& pattern : patterns()) {
      const std::uint64_t data = device.put(content());
      const std::uint64_t out = device.put(Bytes(kBytes * (1 + kWarpLanes)));
      testing::Launch launch;
      launch.checkers = false;  // lanes may store to one place here: the highest lane's stays
      ASSERT_EQ(
          trouble(device.run(kernel, launch, data, device.put(pattern.index), device.put(values),
                             out, out, std::uint64_t{pattern.executing}, blob())),
          "")
          << pattern.name;
      Images images;
      for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
        if ((pattern.executing >> lane & 1) == 0) continue;
        Bytes& target = images.of(space.home(lane), lane);
        for (unsigned b = 0; b < access.bytes(); ++b) {
          const std::uint64_t value = values[lane * access.vector + b / access.size()];
          target[pattern.index[lane] * access.bytes() + b] =
              static_cast<std::uint8_t>(value >> (8 * (b % access.size())));
        }
      }
      ASSERT_EQ(device.get<std::uint8_t>(data, kBytes), images.global) << pattern.name;
      ASSERT_EQ(device.get<std::uint8_t>(out, kBytes), images.shared) << pattern.name;
      if (!is_home(space, Home::local)) continue;
      for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
        ASSERT_EQ(device.get<std::uint8_t>(out + kBytes * (1 + lane), kBytes), images.local[lane])
            << "lane " << lane << ", " << pattern.name;
      }
    }
  }
}

std::string name_of(const ::testing::TestParamInfo<Space>& info) { return info.param.name; }

std::vector<Space> spaces_with_stores() {
  std::vector<Space> with_stores;
  for (const Space& space : spaces()) {
    if (space.stores) with_stores.push_back(space);
  }
  return with_stores;
}

INSTANTIATE_TEST_SUITE_P(Of, LoadForms, ::testing::ValuesIn(spaces()), name_of);
INSTANTIATE_TEST_SUITE_P(To, StoreForms, ::testing::ValuesIn(spaces_with_stores()), name_of);

TEST(MemoryHints, ChangeNothing) {
  std::string body = take("r0", "p0");
  for (const std::string hint :
       {"prefetch.global.L1 [%p0]",
        "prefetch.global.L2 [%p0]",
        "prefetch.L1 [%p0]",
        "prefetchu.L1 [%p0]",
        "prefetch.global.L2::evict_last [%p0]",
        "applypriority.global.L2::evict_normal [%p0], 128",
        "ldu.global.u32 %r2, [%p0]",
        "createpolicy.fractional.L2::evict_last.b64 %d3, 1.0",
        "createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %d3, 0.5",
        "createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %d3, [%p0], 64, 128",
        "createpolicy.cvt.L2.b64 %d3, 0x10000000",
        "ld.global.L2::cache_hint.u32 %r2, [%p0], %d3",
        "discard.global.L2 [%p2], 128",
        "membar.cta",
        "membar.gl",
        "membar.sys",
        "fence.sc.cta",
        "fence.acq_rel.gpu",
        "fence.sc.sys",
        "fence.proxy.alias",
        "nanosleep.u32 20",
        "pmevent 1"}) {
    body += "  @%q0 " + hint + ";\n";
  }
  testing::Device device(bench_module(bench_kernel("hints", body + give("r0", "p2"))));
  ASSERT_EQ(refusal_of(device, "hints"), "");
  const Values values = random_values(kWarpLanes, 8);
  const std::uint64_t data = device.put(values);
  const std::uint64_t out = device.put(Values(kWarpLanes));
  ASSERT_EQ(trouble(device.run("hints", {}, data, data, out, out, out, std::uint64_t{0xffff})), "");
  EXPECT_EQ(device.get<std::uint64_t>(data, kWarpLanes), values);
  const Values found = device.get<std::uint64_t>(out, kWarpLanes);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) EXPECT_EQ(found[lane], values[lane] & kAll);
}

/// One row per kind of address: which of the spaces' questions it answers with yes.
TEST(GenericAddresses, KnowTheirSpaceAndComeBack) {
  const std::vector<std::string> spaces{"global", "shared", "local", "const"};
  std::string body =
      "  mov.u64 %d0, %p0;\n  mov.u64 %d1, tile;\n  mov.u64 %d2, own;\n"
      "  mov.u64 %d3, table;\n";
  unsigned slot = 0;
  for (unsigned i = 0; i < spaces.size(); ++i) {
    const std::string from = "%d" + std::to_string(i);
    body += "  cvta." + spaces[i] + ".u64 %d4, " + from + ";\n";
    for (const std::string& space : spaces) {
      body += "  isspacep." + space + " %q1, %d4;\n" + give_predicate("q1", "p2", slot++, 20);
    }
    body += "  cvta.to." + spaces[i] + ".u64 %d4, %d4;\n  setp.eq.u64 %q1, %d4, " + from + ";\n" +
            give_predicate("q1", "p2", slot++, 20);
  }
  testing::Device device(bench_module(
      bench_kernel("windows", body,
                   "  .shared .align 16 .b8 tile[512];\n  .local .align 16 .b8 own[512];\n"),
      ".const .align 16 .b8 before[16];\n.const .align 16 .b8 table[64];\n"));
  ASSERT_EQ(refusal_of(device, "windows"), "");
  const std::uint64_t out = device.put(Values(20 * kWarpLanes));
  ASSERT_EQ(trouble(device.run("windows", {}, out, out, out, out, out, std::uint64_t{kAll})), "");
  const Values found = device.get<std::uint64_t>(out, 20 * kWarpLanes);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    for (unsigned i = 0; i < 4; ++i) {
      for (unsigned k = 0; k < 4; ++k) {
        EXPECT_EQ(found[lane * 20 + i * 5 + k], i == k ? 1u : 0u)
            << "isspacep." << spaces[k] << " of an address in " << spaces[i];
      }
      EXPECT_EQ(found[lane * 20 + i * 5 + 4], 1u) << "cvta.to." << spaces[i];
    }
  }
}

TEST(MemoryForms, FormsWithoutCodeAreRefusedByName) {
  for (const std::string text :
       {"ld.global.b128 %d0, [%p0];", "st.global.b128 [%p0], %d0;",
        "ld.shared::cluster.u32 %r0, [%p0];", "ld.global.v8.b32 {%r0,%r1,%r2,%r3}, [%p0];",
        "cvta.param.u64 %d0, %d1;", "isspacep.shared::cluster %q1, %d0;",
        "st.const.u32 [%p0], %r0;"}) {
    const std::string spelling = text.substr(0, text.find(' '));
    testing::Device device(bench_module(bench_kernel("refused", "  " + text + "\n")));
    EXPECT_NE(refusal_of(device, "refused").find(spelling), std::string::npos)
        << text << " gives: " << refusal_of(device, "refused");
  }
}

std::vector<std::string> memory_instructions() {
  std::vector<std::string> all{"prefetch.L1 [a];",
                               "prefetchu.L1 [a];",
                               "applypriority.global [a];",
                               "createpolicy.fractional.L2::evict_last.b64 d, 1.0;",
                               "membar.gl;",
                               "fence.sc.gpu;",
                               "nanosleep.u32 20;",
                               "pmevent 1;",
                               "ldu.global.u32 d, [a];",
                               "discard.global.L2 [a], 128;",
                               "cvta.global.u64;",
                               "isspacep.global;"};
  for (const Space& space : spaces()) {
    for (const Access& access : loads_of(space)) all.push_back(access.text("ld", space) + " d, a;");
    if (!space.stores) continue;
    for (const Access& access : stores_of(space))
      all.push_back(access.text("st", space) + " a, b;");
  }
  return all;
}
const TestedInstructions kTested{memory_instructions};

}  // namespace
}  // namespace simgpu::opcode_tests::memory_test

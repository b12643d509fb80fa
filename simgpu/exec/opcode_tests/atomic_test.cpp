#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "simgpu/exec/opcode_tests/bench.h"
#include "simgpu/exec/opcode_tests/form.h"
#include "simgpu/exec/opcode_tests/oracle.h"
#include "simgpu/exec/opcode_tests/tested_instructions.h"
#include "simgpu/exec/opcodes/opcode.h"

/// atom and red: every operation, alone and in conflict, against lanes taking their turn.
namespace simgpu::opcode_tests::atomic_test {
namespace {

using Values = std::vector<std::uint64_t>;

constexpr std::uint32_t kAll = 0xFFFFFFFFu;
constexpr unsigned kPlaces = 32;

/// The new value from the old one and the operands, in the low `bits` bits.
struct Operation {
  std::string name;  ///< "add.u32"
  unsigned bits = 32;
  std::function<std::uint64_t(std::uint64_t old, std::uint64_t b, std::uint64_t c, bool global)>
      apply;

  bool has_c() const { return name.starts_with("cas"); }
  bool gives_only_the_old() const { return has_c() || name.starts_with("exch"); }
};

std::uint64_t sum_of_halves(const HalfFormat& format, std::uint64_t a, std::uint64_t b) {
  const double x = format.decode(a & 0xffff);
  const double y = format.decode(b & 0xffff);
  // Two bf16 may lie further apart than a double is wide.
  return format.round(static_cast<Quad>(x) + static_cast<Quad>(y), "rn",
                      std::signbit(x) && std::signbit(y));
}

void add_integer_operations(std::vector<Operation>& all, unsigned bits) {
  const std::string width = std::to_string(bits);
  const auto add = [&](const std::string& name, auto apply) {
    all.push_back({name, bits, [=](std::uint64_t old, std::uint64_t b, std::uint64_t c, bool) {
                     return cut(static_cast<Wide>(apply(old, b, c)), bits);
                   }});
  };
  using Bits = std::uint64_t;
  add("exch.b" + width, [](Bits, Bits b, Bits) { return b; });
  add("cas.b" + width, [](Bits old, Bits b, Bits c) { return old == b ? c : old; });
  add("and.b" + width, [](Bits old, Bits b, Bits) { return old & b; });
  add("or.b" + width, [](Bits old, Bits b, Bits) { return old | b; });
  add("xor.b" + width, [](Bits old, Bits b, Bits) { return old ^ b; });
  for (const std::string& type : {"u" + width, "s" + width}) {
    add("add." + type,
        [=](Bits old, Bits b, Bits) { return integer_of(old, type) + integer_of(b, type); });
    add("min." + type, [=](Bits old, Bits b, Bits) {
      return std::min(integer_of(old, type), integer_of(b, type));
    });
    add("max." + type, [=](Bits old, Bits b, Bits) {
      return std::max(integer_of(old, type), integer_of(b, type));
    });
  }
}

std::vector<Operation> operations() {
  using Bits = std::uint64_t;
  std::vector<Operation> all;
  add_integer_operations(all, 32);
  add_integer_operations(all, 64);
  all.push_back({"cas.b16", 16, [](Bits old, Bits b, Bits c, bool) { return old == b ? c : old; }});
  all.push_back({"inc.u32", 32,
                 [](Bits old, Bits b, Bits, bool) { return old >= b ? 0 : (old + 1) & kAll; }});
  all.push_back({"dec.u32", 32,
                 [](Bits old, Bits b, Bits, bool) { return old == 0 || old > b ? b : old - 1; }});
  all.push_back({"add.f32", 32, [](Bits old, Bits b, Bits, bool global) {
                   if (!global) return delivered(f32_of(old) + f32_of(b));
                   return delivered(flushed(f32_of(old)) + flushed(f32_of(b)), true);
                 }});
  all.push_back(
      {"add.f64", 64, [](Bits old, Bits b, Bits, bool) { return raw(f64_of(old) + f64_of(b)); }});
  for (const std::string type : {"f16", "bf16"}) {
    const HalfFormat& format = HalfFormat::named(type);
    all.push_back({"add.noftz." + type, 16, [&format](Bits old, Bits b, Bits, bool) {
                     return sum_of_halves(format, old, b);
                   }});
    all.push_back({"add.noftz." + type + "x2", 32, [&format](Bits old, Bits b, Bits, bool) {
                     return sum_of_halves(format, old >> 16, b >> 16) << 16 |
                            sum_of_halves(format, old, b);
                   }});
  }
  return all;
}

/// Where the places are; generic accesses of one warp may go to both spaces.
struct Target {
  const char* name;
  const char* modifier;
  bool (*in_global)(unsigned lane);
};

constexpr Target kTargets[] = {
    {"global", ".global", [](unsigned) { return true; }},
    {"shared", ".shared", [](unsigned) { return false; }},
    {"generic, to global memory", "", [](unsigned) { return true; }},
    {"generic, to shared memory", "", [](unsigned) { return false; }},
    {"generic, to both", "", [](unsigned lane) { return lane % 4 < 2; }},
};

std::string instruction_of(const Operation& operation, const Target& target, bool returns,
                           const std::string& order) {
  const std::string letter = operation.bits == 64 ? "d" : operation.bits == 32 ? "r" : "h";
  return std::string(returns ? "atom" : "red") + order + target.modifier + "." + operation.name +
         (returns ? " %" + letter + "4" : "") + (returns ? ", [%d0+8], %" : " [%d0+8], %") +
         letter + "5" + (operation.has_c() ? ", %" + letter + "6" : "") + ";";
}

/// %p0 the places, in global memory; a copy of them is in shared memory, and ends in %p4. %p1
/// indexes, %p2 operands b and then c, %p3 the old values.
std::string kernel_of(const std::string& name, const Operation& operation, const Target& target,
                      bool returns, const std::string& order) {
  const std::string bits = std::to_string(operation.bits);
  const std::string letter = operation.bits == 64 ? "d" : operation.bits == 32 ? "r" : "h";
  std::string choose;
  const bool generic = std::string(target.modifier).empty();
  if (std::string(target.modifier) == ".global") {
    choose = "  mov.u64 %d0, %p0;\n";
  } else if (!generic) {
    choose = "  mov.u64 %d0, tile;\n";
  } else {
    std::uint32_t in_global = 0;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      in_global |= static_cast<std::uint32_t>(target.in_global(lane)) << lane;
    }
    choose = "  mov.u64 %d1, tile;\n  cvta.shared.u64 %d1, %d1;\n  mov.u32 %r0, " +
             std::to_string(in_global) +
             ";\n  shr.u32 %r0, %r0, %lane;\n  and.b32 %r0, %r0, 1;\n"
             "  setp.ne.u32 %q1, %r0, 0;\n  selp.b64 %d0, %p0, %d1, %q1;\n";
  }
  const std::string copy =
      "  mul.wide.u32 %d2, %lane, 8;\n  mov.u64 %d1, tile;\n"
      "  add.u64 %d1, %d1, %d2;\n";
  return bench_kernel(
      name,
      copy +
          "  add.u64 %d2, %p0, %d2;\n  ld.global.u64 %d3, [%d2];\n  st.shared.u64 [%d1], %d3;\n" +
          "  bar.sync 0;\n" + choose + take("r0", "p1") +
          "  mad.wide.u32 %d0, %r0, 8, %d0;\n  sub.u64 %d0, %d0, 8;\n" +
          "  mul.wide.u32 %d1, %thread, 16;\n  add.u64 %d1, %p2, %d1;\n  ld.global.b" + bits +
          " %" + letter + "5, [%d1];\n  ld.global.b" + bits + " %" + letter + "6, [%d1+8];\n" +
          "  mov.b" + bits + " %" + letter + "4, 0;\n  @%q0 " +
          instruction_of(operation, target, returns, order) + "\n" + give(letter + "4", "p3") +
          "  bar.sync 0;\n" + copy +
          "  add.u64 %d2, %p4, %d2;\n  ld.shared.u64 %d3, [%d1];\n  st.global.u64 [%d2], %d3;\n",
      "  .shared .align 8 .b64 tile[32];\n");
}

struct Conflict {
  const char* name;
  Values index;
  std::uint32_t executing;
};

std::vector<Conflict> conflicts() {
  Values apart;
  Values fours;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    apart.push_back(31 - lane);
    fours.push_back(lane % 4);
  }
  Values random = random_values(kWarpLanes, 77);
  for (std::uint64_t& index : random) index %= 9;
  return {{"every lane at a place of its own", apart, kAll},
          {"all lanes at one place", Values(kWarpLanes, 5), kAll},
          {"eight lanes at each place", fours, kAll},
          {"at random", random, kAll},
          {"some lanes at one place", Values(kWarpLanes, 0), 0x90013f6eu},
          {"some lanes at random", random, 0x0ff7c3d2u},
          {"no lane", apart, 0}};
}

/// Small values, so that comparisons and counters meet, between random ones and special floats.
Values operands(std::size_t count, std::uint64_t seed, const Operation& operation) {
  Values values = random_values(count, seed);
  const std::uint64_t f32[] = {0x3f800000, 0x00000001, 0x80000003, 0x00400000, 0xff800000,
                               0x00800000, 0x80000000, 0x80800001, 0xc0490fdb, 0x3eaaaaab};
  const std::uint64_t f64[] = {raw(1.0),    1,        raw(-0.0), raw(1e300),
                               raw(-1e300), raw(0.1), raw(-3.5)};
  for (std::size_t i = 0; i < count; ++i) {
    if (operation.name == "add.f32") values[i] = f32[values[i] % std::size(f32)];
    if (operation.name == "add.f64") values[i] = f64[values[i] % std::size(f64)];
    // Finite halves of similar size, so that sums round; some small, for subnormal results.
    if (operation.name.find("f16") != std::string::npos) {
      values[i] &= values[i] % 5 == 0 ? 0x80038003u : 0xbfffbfffu;
    }
    if (operation.name.find('f') == std::string::npos && values[i] % 2 == 0) values[i] %= 5;
    values[i] = cut(static_cast<Wide>(values[i]), operation.bits);
  }
  return values;
}

/// What memory and the returned values are after the lanes have taken their turn in order.
struct Outcome {
  Values global, shared, old;
};

Outcome sequentially(const Operation& operation, const Target& target, const Conflict& conflict,
                     const Values& places, const Values& operands) {
  Outcome outcome{places, places, Values(kWarpLanes)};
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    if ((conflict.executing >> lane & 1) == 0) continue;
    const bool in_global = target.in_global(lane);
    std::uint64_t& place = (in_global ? outcome.global : outcome.shared)[conflict.index[lane]];
    outcome.old[lane] = place;
    place = operation.apply(place, operands[2 * lane], operands[2 * lane + 1], in_global);
  }
  return outcome;
}

class AtomicForms : public ::testing::TestWithParam<std::string> {
 protected:
  static Operation operation() {
    for (const Operation& one : operations()) {
      if (one.name == GetParam()) return one;
    }
    throw std::logic_error("no such operation");
  }
};

TEST_P(AtomicForms, TakeTurnsInTheOrderOfTheLanes) {
  const Operation operation = AtomicForms::operation();
  std::string kernels;
  for (std::size_t t = 0; t < std::size(kTargets); ++t) {
    kernels += kernel_of("atom_" + std::to_string(t), operation, kTargets[t], true, "");
    if (operation.gives_only_the_old()) continue;
    kernels += kernel_of("red_" + std::to_string(t), operation, kTargets[t], false, "");
  }
  testing::Device device(bench_module(kernels));
  for (const std::string& kernel : kernel_names(device.program())) {
    const bool returns = kernel.starts_with("atom");
    const Target& target = kTargets[kernel.back() - '0'];
    SCOPED_TRACE(instruction_of(operation, target, returns, "") + " " + target.name);
    ASSERT_EQ(refusal_of(device, kernel), "");
    for (const Conflict& conflict : conflicts()) {
      for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const Values places = operands(kPlaces, 10 + seed, operation);
        const Values values = operands(2 * kWarpLanes, 20 + seed, operation);
        const std::uint64_t global = device.put(places);
        const std::uint64_t shared = device.put(Values(kPlaces));
        const std::uint64_t old = device.put(Values(kWarpLanes));
        ASSERT_EQ(
            trouble(device.run(kernel, {}, global, device.put(conflict.index), device.put(values),
                               old, shared, std::uint64_t{conflict.executing})),
            "");
        const Outcome expected = sequentially(operation, target, conflict, places, values);
        ASSERT_EQ(device.get<std::uint64_t>(global, kPlaces), expected.global) << conflict.name;
        ASSERT_EQ(device.get<std::uint64_t>(shared, kPlaces), expected.shared) << conflict.name;
        if (!returns) continue;
        ASSERT_EQ(device.get<std::uint64_t>(old, kWarpLanes), expected.old) << conflict.name;
      }
    }
  }
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Operation& operation : operations()) all.push_back(operation.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Operation, AtomicForms, ::testing::ValuesIn(names()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

const std::vector<std::string>& orders() {
  static const std::vector<std::string> kAllOfThem{".relaxed.cta", ".acquire.gpu", ".release.sys",
                                                   ".acq_rel.gpu", ".acq_rel.cta", ".relaxed.sys"};
  return kAllOfThem;
}

TEST(AtomicOrders, ChangeNothingThatAProgramSees) {
  const std::vector<Operation> all = operations();
  const auto add = std::find_if(all.begin(), all.end(),
                                [](const Operation& one) { return one.name == "add.u32"; });
  for (const std::string& order : orders()) {
    for (const Target& target : kTargets) {
      testing::Device device(bench_module(kernel_of("ordered", *add, target, true, order)));
      ASSERT_EQ(refusal_of(device, "ordered"), "");
      const Conflict conflict{"", Values(kWarpLanes, 2), kAll};
      const Values places = operands(kPlaces, 1, *add);
      const Values values = operands(2 * kWarpLanes, 2, *add);
      const std::uint64_t global = device.put(places);
      const std::uint64_t shared = device.put(Values(kPlaces));
      const std::uint64_t old = device.put(Values(kWarpLanes));
      ASSERT_EQ(trouble(device.run("ordered", {}, global, device.put(conflict.index),
                                   device.put(values), old, shared, std::uint64_t{kAll})),
                "");
      const Outcome expected = sequentially(*add, target, conflict, places, values);
      EXPECT_EQ(device.get<std::uint64_t>(global, kPlaces), expected.global);
      EXPECT_EQ(device.get<std::uint64_t>(shared, kPlaces), expected.shared);
      EXPECT_EQ(device.get<std::uint64_t>(old, kWarpLanes), expected.old);
    }
  }
}

/// Across warps and blocks any order will do, but it has to be one: every value that a thread got
/// is what some other one left.
TEST(AtomicOrders, AThreadGetsWhatAnotherOneLeft) {
  constexpr unsigned kThreads = 7 * 96;
  testing::Device device(bench_module(bench_kernel(
      "count", take("r1", "p1") + "  atom.global.add.u32 %r0, [%p0], %r1;\n" + give("r0", "p3"))));
  Values addends = random_values(kThreads, 6);
  for (std::uint64_t& addend : addends) addend = addend % 1000 + 1;
  const std::uint64_t sum = device.put(Values(1));
  const std::uint64_t old = device.put(Values(kThreads));
  testing::Launch launch;
  launch.grid = {7, 1, 1};
  launch.block = {96, 1, 1};
  launch.workers = 2;
  ASSERT_EQ(trouble(device.run("count", launch, sum, device.put(addends), sum, old, sum,
                               std::uint64_t{0})),
            "");
  const Values found = device.get<std::uint64_t>(old, kThreads);
  std::map<std::uint64_t, std::uint64_t> addend_at;  // by the value before it
  for (unsigned thread = 0; thread < kThreads; ++thread) {
    EXPECT_TRUE(addend_at.emplace(found[thread], addends[thread]).second)
        << "two threads got " << found[thread];
  }
  std::uint64_t value = 0;
  for (const auto& [before, addend] : addend_at) {
    ASSERT_EQ(before, value) << "no thread left this value";
    value += addend;
  }
  EXPECT_EQ(device.get<std::uint64_t>(sum, 1)[0], value);
}

std::string vector_instruction(bool returns, int elements) {
  const std::string registers = elements == 2 ? "%r8, %r9}" : "%r8, %r9, %r10, %r11}";
  const std::string old = elements == 2 ? "{%r4, %r5}" : "{%r4, %r5, %r6, %r7}";
  return std::string(returns ? "atom" : "red") + ".global.add.v" + std::to_string(elements) +
         ".f32 " + (returns ? old + ", " : "") + "[%p0], {" + registers + ";";
}

TEST(AtomicVectors, AddElementByElement) {
  for (const int elements : {2, 4}) {
    for (const bool returns : {true, false}) {
      std::string body = "  cvt.rn.f32.u32 %r8, %thread;\n";
      for (int i = 1; i < 4; ++i) {
        body +=
            "  add.f32 %r" + std::to_string(8 + i) + ", %r8, 0f4" + std::to_string(i) + "000000;\n";
      }
      body += "  mov.b32 %r" + std::to_string(3 + elements) + ", 0;\n  @%q0 " +
              vector_instruction(returns, elements) + "\n" +
              give("r" + std::to_string(3 + elements), "p3");
      testing::Device device(bench_module(bench_kernel("vector", body)));
      ASSERT_EQ(refusal_of(device, "vector"), "");
      const std::uint64_t sums = device.put(std::vector<float>(4));
      const std::uint64_t old = device.put(Values(kWarpLanes));
      ASSERT_EQ(trouble(device.run("vector", {}, sums, old, old, old, old, std::uint64_t{0xff})),
                "");
      const float addends[] = {0, 8, 32, 128};  // whose bits are 0x4i000000, but the first
      const std::vector<float> got = device.get<float>(sums, 4);
      for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(got[i], i < elements ? 28 + 8 * addends[i] : 0) << i;
      }
      float last = 0;
      for (unsigned lane = 0; returns && lane < 8; ++lane) {
        EXPECT_EQ(f32_of(device.get<std::uint64_t>(old, kWarpLanes)[lane]), last) << lane;
        last += static_cast<float>(lane) + addends[elements - 1];
      }
    }
  }
}

TEST(AtomicTable, FormsWithoutCodeAreRefusedByName) {
  for (const std::string text :
       {"atom.global.exch.b128 %d0, [%p0], %d1;", "atom.global.min.f32 %r0, [%p0], %r1;",
        "red.global.exch.b32 [%p0], %r0;", "red.global.cas.b32 [%p0], %r0, %r1;",
        "atom.global.inc.u64 %d0, [%p0], %d1;", "atom.shared::cluster.add.u32 %r0, [%d0], %r1;",
        "red.async.relaxed.cluster.shared::cluster.add.u32 [%d0], %r1;",
        "atom.global.add.L2::cache_hint.u32 %r0, [%p0], %r1, %d0;",
        "atom.global.add.u32 %r0, [%p0];", "atom.local.add.u32 %r0, [%p0], %r1;",
        "red.global.v2.f32.add [%p0], {%r0, %r1};"}) {
    const std::string spelling = text.substr(0, text.find(' '));
    testing::Device device(bench_module(bench_kernel("refused", "  " + text + "\n")));
    EXPECT_NE(refusal_of(device, "refused").find(spelling), std::string::npos)
        << text << " gives: " << refusal_of(device, "refused");
  }
}

TEST(AtomicTable, HasNoOperationWithoutATest) {
  const std::vector<std::string> tested = names();
  const std::vector<std::string> table = simgpu::atomic_operations();
  ASSERT_GT(table.size(), 25u);
  for (const std::string& operation : table) {
    EXPECT_NE(std::find(tested.begin(), tested.end(), operation), tested.end())
        << operation << " is in the table of exec/opcodes/atomic.cpp, but not tested";
  }
}

std::vector<std::string> atomic_instructions() {
  std::vector<std::string> all;
  for (const Operation& operation : operations()) {
    for (const Target& target : kTargets) {
      all.push_back(instruction_of(operation, target, true, ""));
      if (!operation.gives_only_the_old()) {
        all.push_back(instruction_of(operation, target, false, ""));
      }
    }
  }
  for (const int elements : {2, 4}) {
    for (const bool returns : {true, false}) all.push_back(vector_instruction(returns, elements));
  }
  return all;
}
const TestedInstructions kTested{atomic_instructions};

}  // namespace
}  // namespace simgpu::opcode_tests::atomic_test

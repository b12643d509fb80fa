#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "simgpu/device/cuda_error.h"
#include "simgpu/device/protocol.h"
#include "simgpu/device/raw_guest_testing.h"
#include "simgpu/device/wire.h"

// Programs that are written to break the device process: what they get is an error, and what they
// take of the machine is bounded.
namespace simgpu::hostile_program_test {
namespace {

using protocol::GuestOperation;
using ::testing::HasSubstr;

constexpr std::uint64_t kMebibyte = 1 << 20;

std::string repeated(std::size_t count, const std::function<std::string(std::size_t)>& piece) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += piece(i);
  return text;
}
std::string repeated(std::size_t count, const std::string& piece) {
  return repeated(count, [&](std::size_t) { return piece; });
}

/// A module with one kernel `k`, which takes an address.
std::string module_of(const std::string& body, const std::string& before = "") {
  return ".version 9.0\n.target sm_80\n.address_size 64\n" + before +
         "\n.visible .entry k(.param .u64 data)\n{\n" + body + "\nret;\n}\n";
}

/// f0 does nothing; each function after it calls the one before, `calls` times.
std::string chain(std::size_t functions, std::size_t calls) {
  return ".func f0() { ret; }\n" + repeated(functions, [&](std::size_t i) {
           return fmt::format(".func f{}() {{ {} ret; }}\n", i + 1,
                              repeated(calls, fmt::format("call f{};", i)));
         });
}

struct HostileModule {
  const char* name;
  std::string text;
};

std::vector<HostileModule> hostile_modules() {
  constexpr std::size_t kMany = 20'000;
  const auto far = [](std::size_t i) { return i * 7919 % kMany; };
  const auto branch = [&](std::size_t i) { return fmt::format("L{}: bra L{};\n", i, far(i)); };
  const auto choice = [&](std::size_t i) { return fmt::format("L{}: @%p bra L{};\n", i, far(i)); };
  const auto sum = [&](std::size_t i) {
    return fmt::format("L{}: @%p bra L{}; add.u32 %r{}, %r{}, %r{};\n", i, far(i), i, i, far(i));
  };
  const std::string predicate = ".reg .pred %p; .reg .u64 %d; setp.eq.u64 %p, %d, 1;\n";
  return {
      {"nested scopes", module_of(repeated(kMany, "{") + repeated(kMany, "}"))},
      {"labels", module_of(repeated(kMany, [](std::size_t i) { return fmt::format("L{}:", i); }))},
      {"branches", module_of(repeated(kMany, branch))},
      {"conditional branches", module_of(predicate + repeated(kMany, choice))},
      {"registers alive over branches",
       module_of(predicate + ".reg .b32 %r<20000>;\n" + repeated(kMany, sum))},
      {"registers", module_of(".reg .b32 %r<4294967295>; mov.u32 %r4294967294, 1;")},
      {"shared memory", module_of(".reg .b64 %d; .shared .b8 x[4294967296]; mov.u64 %d, x;")},
      {"local memory", module_of(".reg .b64 %d; .local .b8 x[4294967296]; mov.u64 %d, x;")},
      {"global memory", module_of("", ".global .b8 x[1099511627776];")},
      {"constant memory", module_of("", ".const .b8 x[18446744073709551615];")},
      {"variables",
       module_of(
           "", repeated(kMany, [](std::size_t i) { return fmt::format(".global .b8 g{};", i); }))},
      {"kernels", module_of("", repeated(66'000,
                                         [](std::size_t i) {
                                           return fmt::format(".entry e{}(){{ret;}}", i);
                                         }))},
      {"calls that double with each level", module_of("call f60;", chain(60, 2))},
      {"a deep chain of calls", module_of("call f9999;", chain(9999, 1))},
      {"recursion", module_of("call f;", ".func f() { call f; ret; }")},
      {"a nested expression", module_of(".reg .b32 %r; mov.u32 %r, " + repeated(kMany, "(") + "1" +
                                        repeated(kMany, ")") + ";")},
      {"a long name", ".version 9.0\n.target sm_80\n.address_size 64\n.entry " +
                          std::string(2 * kMebibyte, 'Z') + "(.param .u64 data) { ret; }"},
      {"opcodes that nobody knows",
       module_of(repeated(2000, "no." + std::string(3000, 'x') + ";"))},
      {"parameters",
       ".version 9.0\n.target sm_80\n.address_size 64\n.entry k(.param .b8 p[4294967295]) { ret; "
       "}"},
  };
}

TEST(HostileProgram, TakesABoundedPartOfTheMachineWhateverItDeclares) {
  DeviceProcess device = start(1, 1'000'000);
  for (const HostileModule& module : hostile_modules()) {
    SCOPED_TRACE(module.name);
    RawGuest guest(device);
    const RawGuest::Answer loaded = guest.load(module.text);
    ASSERT_TRUE(loaded.connected);
    if (loaded.error == CudaError::success) {
      guest.run(wire::Reader(loaded.data).get<std::uint64_t>(), {1, 1, 1}, {32, 1, 1},
                std::uint64_t{0});
    }
    EXPECT_LT(peak_memory_of(device), 512 * kMebibyte);
  }
  expect_healthy(device);
}

/// The only finding of a kernel that gets `address`, once it has ended with `error`.
class HostileKernel : public ::testing::Test {
 protected:
  Finding only_finding(CudaError error, const std::string& text, Dim3 grid,
                       Dim3 block = {32, 1, 1}) {
    device_.mark();
    guest_.request(GuestOperation::reset);
    EXPECT_EQ(guest_.answer().error, CudaError::success);
    const std::uint64_t address = guest_.allocate(4096);
    const RawGuest::Answer loaded = guest_.load(text);
    EXPECT_EQ(loaded.error, CudaError::success);
    if (loaded.data.size() < 8) return {};
    EXPECT_EQ(guest_.run(wire::Reader(loaded.data).get<std::uint64_t>(), grid, block, address),
              error);
    const Activity activity = device_.collect();
    EXPECT_EQ(activity.findings.size(), 1u);
    EXPECT_LT(peak_memory_of(device_), 512 * kMebibyte);
    return activity.findings.empty() ? Finding{} : activity.findings[0];
  }
  void TearDown() override { expect_healthy(device_); }

  DeviceProcess device_ = start(2, 2'000'000);
  RawGuest guest_{device_};
};

TEST_F(HostileKernel, EndsWhenItDoesNot) {
  EXPECT_EQ(only_finding(CudaError::launch_timeout, module_of("L: bra L;"), {1, 1, 1}).code,
            Code("RL0307"));
  EXPECT_EQ(only_finding(CudaError::launch_timeout, module_of("L: bra L;"), {1000, 1, 1}).code,
            Code("RL0307"));
}

TEST_F(HostileKernel, HasAShortStoryHoweverLongItsNamesAre) {
  // f<t<t<t<…>, t<…>>, …>>: each level stands for the one before, twice.
  std::string doubling = "_Z1fI1tIiiE";
  for (int level = 0; level < 34; ++level) {
    const char digit = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[level];
    doubling += fmt::format("S_IS{0}_S{0}_E", digit);
  }
  for (const std::string& name : {doubling + "Evv", std::string(kMebibyte, 'n')}) {
    const std::string recursion = module_of(fmt::format("call {};", name),
                                            fmt::format(".func {0}() {{ call {0}; ret; }}", name));
    const Finding finding = only_finding(CudaError::illegal_address, recursion, {1, 1, 1});
    EXPECT_EQ(finding.code, Code("RL0209"));
    EXPECT_LT(finding.message.size(), 10'000u);
  }
}

TEST_F(HostileKernel, EndsAtItsBudgetWhateverTheGrid) {
  const Dim3 largest{2'147'483'647, 65'535, 65'535};
  EXPECT_EQ(only_finding(CudaError::launch_timeout, module_of(""), largest, {1, 1, 1}).code,
            Code("RL0319"));
  EXPECT_EQ(only_finding(CudaError::launch_timeout, module_of(""), largest, {1024, 1, 1}).code,
            Code("RL0319"));
  // Each block begins with its memory cleared, which takes longer than the instruction it has.
  const std::string large =
      ".local .b8 x[100000]; .reg .u64 %d; mov.u64 %d, x; st.local.u8 [%d], 1;";
  EXPECT_EQ(only_finding(CudaError::launch_timeout, module_of(large), {1'000'000, 1, 1}).code,
            Code("RL0319"));
}

/// printf(format, values…) for all lanes, for ever.
std::string printing_for_ever(const std::string& format_bytes) {
  return module_of(
      "L: { .param .b64 a; .param .b64 b; .param .b32 r; .reg .u64 %f, %g;\n"
      "mov.u64 %f, format; cvta.global.u64 %f, %f; st.param.b64 [a], %f;\n"
      "mov.u64 %g, values; cvta.global.u64 %g, %g; st.param.b64 [b], %g;\n"
      "call.uni (r), vprintf, (a, b); } bra L;",
      ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
      ".global .align 8 .u64 values[1] = {generic(format)};\n.global .align 1 .b8 format[4096] = "
      "{" +
          format_bytes + "};");
}

TEST_F(HostileKernel, PrintsNoMoreThanABlockMay) {
  const std::string text = repeated(4000, "120,") + "0";
  only_finding(CudaError::launch_timeout, printing_for_ever(text), {1000, 1, 1});
  // "%.0s" reads a string of 4000 bytes and prints nothing of it.
  only_finding(CudaError::launch_timeout, printing_for_ever(repeated(800, "37,46,48,115,") + "0"),
               {1000, 1, 1});
  // Each conversion prints the whole format.
  only_finding(CudaError::launch_timeout, printing_for_ever(repeated(1800, "37,115,") + "0"),
               {1000, 1, 1});
}

TEST_F(HostileKernel, IsToldOfOnceHoweverOftenItIsWrong) {
  // Every block stores its number to one word.
  const std::string body =
      ".reg .u64 %d; .reg .u32 %c; ld.param.u64 %d, [data]; mov.u32 %c, %ctaid.x;\n"
      "st.global.u32 [%d], %c;";
  const Finding finding = only_finding(CudaError::success, module_of(body), {20'000, 1, 1});
  EXPECT_GT(finding.occurrences, 1u);
}

TEST(HostileGuest, LeavesABoundedLogHoweverMuchItDoes) {
  constexpr std::uint32_t kFills = 21'000, kPieces = 3;
  DeviceProcess device = start();
  RawGuest guest(device);
  const auto done = [&](GuestOperation operation, const auto&... values) {
    guest.request(operation, values...);
    return guest.answer().error;
  };
  const protocol::FillRequest fill{
      .address = guest.allocate(16), .pitch = 16, .width = 16, .height = 1};
  wire::Writer nodes;
  for (std::uint32_t i = 0; i < kFills / kPieces; ++i) {
    nodes.put(
        protocol::GraphNodeHeader{.kind = protocol::GraphNodeKind::fill, .bytes = sizeof fill});
    nodes.put(fill);
  }
  EXPECT_EQ(done(GuestOperation::activity_record, std::uint32_t{1}), CudaError::success);
  EXPECT_EQ(done(GuestOperation::graph_begin), CudaError::success);
  for (std::uint32_t i = 0; i < kPieces; ++i) {
    guest.send_message(static_cast<std::uint32_t>(GuestOperation::graph_nodes), nodes.bytes());
    EXPECT_EQ(guest.answer().error, CudaError::success);
  }
  EXPECT_EQ(done(GuestOperation::graph_end), CudaError::success);
  device.mark();
  EXPECT_EQ(done(GuestOperation::graph_launch, std::uint64_t{1}, std::uint64_t{0}),
            CudaError::success);
  // Refused, each time in other words.
  for (std::uint64_t i = 1; i < 1000; ++i) {
    ASSERT_EQ(done(GuestOperation::release, i), CudaError::invalid_value);
  }
  const Activity activity = device.collect();
  EXPECT_EQ(activity.memory.size(), 20'001u) << "the last is the sum of all others";
  EXPECT_EQ(activity.findings.size(), 500u);
  EXPECT_EQ(activity.api_calls.at("cudaFree"), 999u);
  EXPECT_LT(peak_memory_of(device), 128 * kMebibyte);
  expect_healthy(device);
}

}  // namespace
}  // namespace simgpu::hostile_program_test

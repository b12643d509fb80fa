#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "simgpu/exec/opcode_tests/bench.h"
#include "simgpu/exec/opcode_tests/tested_instructions.h"

/// cp.async: what is copied, when it arrives, and what may not be done in the meantime.
namespace simgpu::opcode_tests::async_copy_test {
namespace {

constexpr std::uint64_t kAll = 0xFFFFFFFF;
using Bytes = std::vector<std::uint8_t>;

struct CopyCase {
  unsigned bytes;
  std::string cache;          ///< "ca" or "cg"
  std::string hints = {};     ///< ".L2::128B"
  std::string operands = {};  ///< behind the size: ", %r3"
  std::string space = "shared";

  std::string text() const {
    return "cp.async." + cache + "." + space + ".global" + hints + " [%r4+16], [%d4+32], " +
           std::to_string(bytes) + operands + ";";
  }
};

/// %r4 and %d4: 16 bytes per lane in shared array `tile`, and in %p0; 16 and 32 bytes before it.
const char* const kAddresses =
    "  mul.lo.u32 %r4, %lane, 16;\n  mov.u32 %r5, tile;\n  cvt.u64.u32 %d4, %r4;\n"
    "  add.u32 %r4, %r4, %r5;\n  add.u64 %d4, %d4, %p0;\n";
const char* const kDeclarations = "  .shared .align 16 .b8 tile[528];\n";
/// The destination starts as ones.
const char* const kFill =
    "  mov.u32 %r0, -1;\n  st.shared.v4.b32 [%r4+16], {%r0, %r0, %r0, %r0};\n";
/// The lane's 16 bytes of the tile, to %p1.
const char* const kStore =
    "  ld.shared.v4.b32 {%r0, %r1, %r2, %r6}, [%r4+16];\n  mul.wide.u32 %d5, %lane, 16;\n"
    "  add.u64 %d5, %d5, %p1;\n  st.global.v4.b32 [%d5], {%r0, %r1, %r2, %r6};\n";
const char* const kDone = "  cp.async.commit_group;\n  cp.async.wait_group 0;\n";

std::vector<CopyCase> cases() {
  std::vector<CopyCase> all;
  for (const unsigned bytes : {4U, 8U, 16U}) {
    all.push_back({bytes, "ca"});
    all.push_back({bytes, "ca", ".L2::64B", "", "shared::cta"});
    all.push_back({bytes, "ca", ".L2::cache_hint", ", %d6"});
    all.push_back({bytes, "ca", "", ", 4"});
    all.push_back({bytes, "ca", ".L2::256B", ", %r3"});
    all.push_back({bytes, "ca", ".L2::cache_hint.L2::128B", ", %r3, %d6"});
    all.push_back({bytes, "ca", "", ", %q2"});
  }
  all.push_back({16, "cg"});
  all.push_back({16, "cg", ".L2::128B", ", %r3"});
  all.push_back({16, "cg", ".L2::cache_hint", ", !%q2, %d6"});
  return all;
}

Bytes pattern() {
  Bytes bytes(1024);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 7 % 251);
  return bytes;
}

/// How many bytes lane `lane` reads: %r3 is the lane's number modulo 20, %q2 set in odd lanes.
unsigned read_of(const CopyCase& x, unsigned lane) {
  const std::string& operands = x.operands;
  if (operands.starts_with(", 4")) return 4;
  if (operands.starts_with(", %r3")) return std::min(lane % 20, x.bytes);
  if (operands.starts_with(", %q2")) return lane % 2 == 1 ? 0 : x.bytes;
  if (operands.starts_with(", !%q2")) return lane % 2 == 1 ? x.bytes : 0;
  return x.bytes;
}

TEST(AsyncCopies, BringTheBytesAndZerosForThoseNotRead) {
  for (const CopyCase& x : cases()) {
    SCOPED_TRACE(x.text());
    testing::Device device(bench_module(
        bench_kernel("copies",
                     std::string(kAddresses) + "  mov.u64 %d6, 0;\n  rem.u32 %r3, %lane, 20;\n" +
                         "  and.b32 %r6, %lane, 1;\n  setp.eq.u32 %q2, %r6, 1;\n" + kFill +
                         "  @%q0 " + x.text() + "\n" + kDone + kStore,
                     kDeclarations)));
    ASSERT_EQ(refusal_of(device, "copies"), "");
    const Bytes source = pattern();
    const std::uint64_t in = device.put(source);
    const std::uint64_t out = device.put(Bytes(512));
    constexpr std::uint64_t kLanes = 0x7fff'ff0f;  // the others copy nothing
    ASSERT_EQ(trouble(device.run("copies", {}, in, out, in, in, in, kLanes)), "");
    const Bytes found = device.get<std::uint8_t>(out, 512);
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned i = 0; i < 16; ++i) {
        const bool copied = (kLanes >> lane & 1) != 0 && i < x.bytes;
        const unsigned expected = !copied                ? 0xff
                                  : i < read_of(x, lane) ? source[32 + 16 * lane + i]
                                                         : 0;
        ASSERT_EQ(found[16 * lane + i], expected) << "lane " << lane << ", byte " << i;
      }
    }
  }
}

/// Runs a kernel of `threads` threads with a tile; %p0 is a source of 1 KiB, %p1 room for results.
struct Execution {
  LaunchResult result;
  Bytes out;

  explicit Execution(const std::string& body, unsigned threads = 32, bool checkers = true,
                     const std::string& variables = kDeclarations) {
    testing::Device device(bench_module(bench_kernel("kernel", body, variables)));
    EXPECT_EQ(refusal_of(device, "kernel"), "");
    const std::uint64_t in = device.put(pattern());
    const std::uint64_t room = device.put(Bytes(4096));
    testing::Launch launch;
    launch.block = {threads, 1, 1};
    launch.checkers = checkers;
    result = device.run("kernel", launch, in, room, std::uint64_t{0}, in, in, kAll);
    out = device.get<std::uint8_t>(room, 4096);
  }
  /// Codes of all findings, in order.
  std::string codes() const {
    std::string text;
    for (const Finding& finding : result.findings)
      text += (text.empty() ? "" : " ") + finding.code.text();
    return text;
  }
};

const std::string kCopy = "  cp.async.ca.shared.global [%r4+16], [%d4+32], 16;\n";
const std::string kCommit = "  cp.async.commit_group;\n";
const std::string kSetUp = std::string(kAddresses) + kFill;

/// What is read before the wait is what was there before the copy, and a finding.
TEST(AsyncCopies, ArriveWithTheWaitAndNotBefore) {
  struct Case {
    std::string waits;
    bool arrives;
  };
  for (const auto& [waits, arrives] :
       std::vector<Case>{{"", false},
                         {kCommit, false},
                         {kCommit + "  cp.async.wait_group 1;\n", false},
                         {"  cp.async.wait_group 0;\n", false},  // never committed
                         {kCommit + "  cp.async.wait_group 0;\n", true},
                         {kCommit + kCommit + "  cp.async.wait_group 1;\n", true},
                         {kCommit + kCommit + "  cp.async.wait_group 2;\n", false},
                         {"  cp.async.wait_all;\n", true},
                         {kCommit + "  cp.async.wait_all;\n", true}}) {
    SCOPED_TRACE(waits);
    const Execution run(kSetUp + kCopy + waits + kStore);
    EXPECT_EQ(run.codes(), arrives ? "" : "RL0313");
    EXPECT_EQ(run.result.status, LaunchStatus::ok);
    const Bytes source = pattern();
    for (unsigned i = 0; i < 512; ++i) {
      ASSERT_EQ(run.out[i], arrives ? source[32 + i] : 0xff) << "byte " << i;
    }
  }
}

TEST(AsyncCopies, WaitForTheOldestGroups) {
  // Three groups, to the lane's words 0, 1 and 2; all but the newest have to be done.
  std::string body = kSetUp;
  for (unsigned i = 0; i < 3; ++i) {
    const std::string at = std::to_string(16 + 4 * i) + "], [%d4+" + std::to_string(32 + 4 * i);
    body += "  cp.async.ca.shared.global [%r4+" + at + "], 4;\n" + kCommit;
  }
  const Execution run(body + "  cp.async.wait_group 1;\n" + kStore, 32, false);
  const Bytes source = pattern();
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 16; ++i) {
      ASSERT_EQ(run.out[16 * lane + i], i < 8 ? source[32 + 16 * lane + i] : 0xff)
          << "lane " << lane << ", byte " << i;
    }
  }
}

/// Groups are each thread's own: only the lanes that waited have their bytes.
TEST(AsyncCopies, AreWaitedForByEachThread) {
  const Execution run(kSetUp + kCopy + kCommit +
                      "  setp.lt.u32 %q1, %lane, 7;\n  @%q1 cp.async.wait_group 0;\n" + kStore);
  EXPECT_EQ(run.codes(), "RL0313");
  EXPECT_EQ(run.result.findings.front().occurrences, 25u * 4u);
  const Bytes source = pattern();
  for (unsigned i = 0; i < 512; ++i) ASSERT_EQ(run.out[i], i < 7 * 16 ? source[32 + i] : 0xff);
}

/// %r4 of the neighbouring warp's lane, for reading what it copied.
const std::string kTwoWarps =
    "  mul.lo.u32 %r4, %thread, 4;\n  mov.u32 %r5, tile;\n  cvt.u64.u32 %d4, %r4;\n"
    "  add.u32 %r4, %r4, %r5;\n  add.u64 %d4, %d4, %p0;\n"
    "  xor.b32 %r6, %thread, 32;\n  mul.lo.u32 %r6, %r6, 4;\n  add.u32 %r6, %r6, %r5;\n";
const std::string kSmallCopy = "  cp.async.ca.shared.global [%r4], [%d4], 4;\n";
const std::string kWait = kCommit + "  cp.async.wait_group 0;\n";
const std::string kBarrier = "  bar.sync 0;\n";
const std::string kReadOther = "  ld.shared.b32 %r7, [%r6];\n";

TEST(AsyncCopies, OfOtherThreadsNeedABarrierAfterTheWait) {
  EXPECT_EQ(Execution(kTwoWarps + kSmallCopy + kWait + kBarrier + kReadOther, 64).codes(), "");
  EXPECT_EQ(Execution(kTwoWarps + kSmallCopy + kBarrier + kWait + kReadOther, 64).codes(),
            "RL0313");
  EXPECT_EQ(Execution(kTwoWarps + kSmallCopy + kCommit + kBarrier + kReadOther, 64).codes(),
            "RL0313");
  // Within a warp __syncwarp is enough.
  const std::string neighbour = "  xor.b32 %r6, %r4, 4;\n";
  EXPECT_EQ(Execution(kTwoWarps + neighbour + kSmallCopy + kWait + kReadOther).codes(), "RL0313");
  EXPECT_EQ(
      Execution(kTwoWarps + neighbour + kSmallCopy + kWait + "  bar.warp.sync -1;\n" + kReadOther)
          .codes(),
      "");
}

TEST(AsyncCopies, TellBothSides) {
  const Execution run(kTwoWarps + kSmallCopy + kBarrier + kWait + kReadOther, 64);
  ASSERT_EQ(run.result.findings.size(), 1u);
  const Finding& finding = run.result.findings.front();
  EXPECT_EQ(finding.kind(), FindingKind::shared_race);
  EXPECT_EQ(finding.where.action, "reads 4 bytes of shared memory");
  ASSERT_TRUE(finding.other.has_value());
  EXPECT_EQ(finding.other->action, "copies 4 bytes asynchronously to shared memory");
  EXPECT_NE(finding.message.find("shared array tile"), std::string::npos) << finding.message;
}

/// Double buffering that goes round too early: the next copy is issued while others still read.
TEST(AsyncCopies, IntoABufferThatIsStillReadAreARace) {
  const std::string first = kTwoWarps + kSmallCopy + kWait + kBarrier + kReadOther;
  EXPECT_EQ(Execution(first + kBarrier + kSmallCopy + kWait, 64).codes(), "");
  // The other warp may read before the copy is issued, or after.
  EXPECT_EQ(Execution(first + kSmallCopy + kWait, 64).codes(), "RL0313 RL0301");
}

TEST(AsyncCopies, AreNotToBeOverwrittenWhileUnderWay) {
  const std::string store = "  st.shared.b32 [%r4], %lane;\n";
  EXPECT_EQ(Execution(kTwoWarps + kSmallCopy + store + kWait).codes(), "RL0313");
  EXPECT_EQ(Execution(kTwoWarps + kSmallCopy + kWait + store).codes(), "");
  const std::string other_bytes = "  cp.async.ca.shared.global [%r4], [%d4+4], 4;\n";
  EXPECT_EQ(Execution(kTwoWarps + kSmallCopy + other_bytes + kWait).codes(), "RL0313");
  EXPECT_EQ(Execution(kTwoWarps + kSmallCopy + kSmallCopy + kWait).codes(), "");
  EXPECT_EQ(Execution(kTwoWarps + store + kSmallCopy + kWait).codes(), "");
}

TEST(AsyncCopies, OfABlockDoNotConcernTheNext) {
  testing::Device device(bench_module(bench_kernel(
      "blocks",
      kTwoWarps + "  mov.u32 %r8, %ctaid.x;\n  setp.eq.u32 %q1, %r8, 1;\n  @%q1 bra $second;\n" +
          kSmallCopy + "  bra $end;\n$second:\n  st.shared.b32 [tile], %lane;\n$end:\n",
      kDeclarations)));
  testing::Launch launch;
  launch.grid = {2, 1, 1};
  launch.block = {1, 1, 1};
  const std::uint64_t in = device.put(pattern());
  EXPECT_EQ(trouble(device.run("blocks", launch, in, in, in, in, in, kAll)), "");
}

TEST(AsyncCopies, AreCheckedForBoundsAndAlignment) {
  const std::string copy = "  cp.async.ca.shared.global ";
  const auto code = [&](const std::string& text) {
    return Execution(kSetUp + copy + text + ";\n" + kWait).codes();
  };
  EXPECT_EQ(code("[%r4+16], [%d4+600], 8"), "RL0201");
  EXPECT_EQ(code("[%r4+36], [%d4], 4"), "RL0202");
  EXPECT_EQ(code("[%r4+4], [%d4], 8"), "RL0204");
  EXPECT_EQ(code("[%r4+16], [%d4+8], 16"), "RL0204");
  EXPECT_EQ(code("[%r4+16], [%d4+8], 16, 4"), "RL0204");
  // The last lane's bytes end with the source: what is not read may lie behind it.
  EXPECT_EQ(code("[%r4+16], [%d4+528], 16, 0"), "");
  EXPECT_EQ(code("[%r4+16], [%p2], 16, 0"), "") << "a null pointer that is not read";
  EXPECT_EQ(code("[%r4+16], [%p2], 16, 1"), "RL0201");
}

TEST(AsyncCopies, ReadPartsUpToTheEndOfTheSource) {
  testing::Device device(bench_module(bench_kernel(
      "part", kSetUp + "  cp.async.ca.shared.global [%r4+16], [%p0], 16, 7;\n" + kWait + kStore,
      kDeclarations)));
  const std::uint64_t in = device.put(Bytes{1, 2, 3, 4, 5, 6, 7});
  const std::uint64_t out = device.put(Bytes(512));
  ASSERT_EQ(trouble(device.run("part", {}, in, out, in, in, in, kAll)), "");
  EXPECT_EQ(device.get<std::uint8_t>(out, 10), (Bytes{1, 2, 3, 4, 5, 6, 7, 0, 0, 0}));
}

TEST(AsyncCopies, CountAsGlobalLoadsAndSharedStores) {
  const std::string twice = kCopy + kWait;
  for (const std::string cache : {"ca", "cg"}) {
    std::string body = kSetUp + twice + twice;
    for (std::size_t at = body.find(".ca."); at != std::string::npos; at = body.find(".ca.")) {
      body.replace(at, 4, cache == "ca" ? ".cA." : ".cg.");
    }
    for (std::size_t at = body.find(".cA."); at != std::string::npos; at = body.find(".cA.")) {
      body.replace(at, 4, ".ca.");
    }
    const Execution run(body);
    EXPECT_EQ(run.codes(), "");
    const KernelCounters& counters = run.result.counters;
    EXPECT_EQ(counters.instructions_by_class.at("async_copy"), 2u);
    EXPECT_EQ(counters.instructions_by_class.count("global_load"), 0u);
    EXPECT_EQ(counters.global_load_requests, 2u);
    EXPECT_EQ(counters.global_load_sectors, 32u);
    EXPECT_EQ(counters.global_load_bytes, 1024u);
    EXPECT_EQ(counters.l1_hit_sectors, cache == "ca" ? 16u : 0u) << "only L2 caches .cg";
    EXPECT_EQ(counters.l2_read_sectors, cache == "ca" ? 16u : 32u);
    EXPECT_EQ(counters.shared_store_requests, 3u);
    EXPECT_EQ(counters.shared_store_wavefronts, 12u);
  }
}

/// A loop that never waits must not fill this machine's memory.
TEST(AsyncCopies, ThatNobodyWaitsForComeToAnEnd) {
  const Execution run(
      kSetUp + "  mov.u32 %r9, 0;\n$loop:\n" + kCopy +
          "  add.u32 %r9, %r9, 1;\n  setp.lt.u32 %q1, %r9, 3000;\n  @%q1 bra $loop;\n" + kStore,
      32, false);
  EXPECT_EQ(run.result.status, LaunchStatus::ok);
  EXPECT_EQ(run.out[0], pattern()[32]);
}

TEST(AsyncCopies, FormsWithoutCodeAreRefusedByName) {
  for (const std::string& text : std::vector<std::string>{
           "cp.async.cg.shared.global [%r4], [%d4], 8",
           "cp.async.ca.shared.global [%r4], [%d4], 12",
           "cp.async.ca.shared.global [%r4], [%d4], %r3", "cp.async.shared.global [%r4], [%d4], 4",
           "cp.async.ca.shared.global [%r4], [%d4], 4, 4, 4, 4",
           "cp.async.ca.shared::cluster.global [%r4], [%d4], 4", "cp.async.wait_group %r3",
           "cp.async.wait_all 0", "cp.async.bulk.commit_group"}) {
    testing::Device device(
        bench_module(bench_kernel("refused", "  " + text + ";\n", "  .reg .b32 %f<32>;\n")));
    const std::string spelling = text.substr(0, text.find(' '));
    EXPECT_NE(refusal_of(device, "refused").find(spelling), std::string::npos)
        << text << " gives: " << refusal_of(device, "refused");
  }
}

std::vector<std::string> async_copy_instructions() {
  std::vector<std::string> all{"cp.async.commit_group;", "cp.async.wait_group 1;",
                               "cp.async.wait_all;"};
  for (const CopyCase& x : cases()) all.push_back(x.text());
  return all;
}
const TestedInstructions kTested{async_copy_instructions};

}  // namespace
}  // namespace simgpu::opcode_tests::async_copy_test

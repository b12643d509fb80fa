#include "simgpu/memory/device_memory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

#include "simgpu/memory/pages.h"

namespace simgpu {
namespace {

constexpr std::uint64_t kMebi = 1 << 20;

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

std::vector<std::byte> contents(const DeviceMemory& memory, std::uint64_t address,
                                std::uint64_t bytes) {
  std::vector<std::byte> out(bytes);
  EXPECT_TRUE(memory.read(address, out));
  return out;
}

TEST(DeviceMemoryTest, AllocationsAreAlignedAndApart) {
  DeviceMemory memory(64 * kMebi);
  const std::uint64_t first = memory.allocate(100, "a").value();
  const std::uint64_t second = memory.allocate(256, "b").value();
  EXPECT_GE(first, kDeviceBase);
  EXPECT_EQ(first % 256, 0U);
  EXPECT_EQ(second % 256, 0U);
  EXPECT_GE(second, first + 100 + 256);
}

TEST(DeviceMemoryTest, FindAcceptsOnlyWhatLiesInsideOneLiveAllocation) {
  DeviceMemory memory(64 * kMebi);
  const std::uint64_t base = memory.allocate(100, "a").value();
  ASSERT_NE(memory.find(base + 96, 4), nullptr);
  EXPECT_EQ(memory.find(base + 96, 4)->label, "a");
  EXPECT_EQ(memory.find(base + 97, 4), nullptr);
  EXPECT_EQ(memory.find(base - 1), nullptr);
  EXPECT_EQ(memory.find(base, ~std::uint64_t{0}), nullptr);
  EXPECT_TRUE(memory.release(base));
  EXPECT_EQ(memory.find(base), nullptr);
}

TEST(DeviceMemoryTest, ACopyCarriesWhatIsUnwrittenAlong) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    DeviceMemory memory(64 * kMebi);
    const std::uint64_t base = memory.allocate(200, "a").value();
    std::vector<bool> written(200, false);
    for (std::size_t i = 0; i < written.size(); ++i) {
      written[i] = random() % 3 != 0 || (i / 32) % 2 == 0;
      if (written[i]) memory.mark_initialized(base + i, 1);
    }
    const std::uint64_t from = random() % 100, to = random() % 100, bytes = random() % 100;
    ASSERT_TRUE(memory.copy(base + to, base + from, bytes));
    const std::vector<bool> before = written;
    for (std::size_t i = 0; i < bytes; ++i) written[to + i] = before[from + i];
    for (std::size_t i = 0; i < written.size(); ++i) {
      ASSERT_EQ(memory.is_initialized(base + i, 1), written[i])
          << "round " << round << ": " << bytes << " bytes from " << from << " to " << to
          << ", byte " << i;
    }
  }
}

TEST(DeviceMemoryTest, UnwrittenBytesAreCountedByStretch) {
  DeviceMemory memory(64 * kMebi);
  const std::uint64_t base = memory.allocate(100, "a").value();
  memory.mark_initialized(base, 30);
  memory.mark_initialized(base + 35, 20);
  const DeviceMemory::Unwritten found = memory.unwritten(base + 1, 98);
  EXPECT_EQ(found.bytes, 5U + 44U);
  EXPECT_EQ(found.first, base + 30);
  EXPECT_EQ(found.longest, 44U);
  EXPECT_EQ(memory.unwritten(base + 2, 28).bytes, 0U);
}

TEST(DeviceMemoryTest, AFreedAllocationIsStillNamedByItsAddress) {
  DeviceMemory memory(64 * kMebi);
  const std::uint64_t base = memory.allocate(100, "freed").value();
  ASSERT_TRUE(memory.release(base));
  EXPECT_FALSE(memory.release(base)) << "freeing twice is refused";
  ASSERT_TRUE(memory.allocate(100, "later"));
  ASSERT_NE(memory.nearest(base + 8), nullptr);
  EXPECT_EQ(memory.nearest(base + 8)->label, "freed");
  EXPECT_FALSE(memory.nearest(base + 8)->live);
}

TEST(DeviceMemoryTest, NearestIsTheAllocationWithTheSmallestDistance) {
  DeviceMemory memory(64 * kMebi);
  EXPECT_EQ(memory.nearest(kDeviceBase), nullptr);
  const std::uint64_t a = memory.allocate(256, "a").value();
  const std::uint64_t b = memory.allocate(256, "b").value();
  EXPECT_EQ(memory.nearest(a - 16)->label, "a");
  EXPECT_EQ(memory.nearest(a + 256)->label, "a");
  EXPECT_EQ(memory.nearest(b - 4)->label, "b");
  EXPECT_EQ(memory.nearest(b + 4096)->label, "b");
}

TEST(DeviceMemoryTest, CapacityIsWhatMayBeLiveAtOnce) {
  DeviceMemory memory(kMebi);
  const std::uint64_t half = memory.allocate(kMebi / 2, "half").value();
  EXPECT_FALSE(memory.allocate(kMebi / 2 + 1, "too much").has_value());
  EXPECT_TRUE(memory.allocate(kMebi / 2, "rest").has_value());
  EXPECT_EQ(memory.allocated(), kMebi);
  EXPECT_TRUE(memory.release(half));
  EXPECT_EQ(memory.allocated(), kMebi / 2);
  EXPECT_EQ(memory.peak_allocated(), kMebi);
  EXPECT_TRUE(memory.allocate(kMebi / 2, "again").has_value());
  EXPECT_FALSE(memory.allocate(~std::uint64_t{0}, "absurd").has_value());
}

TEST(DeviceMemoryTest, AddressSpaceThatIsUsedUpIsReused) {
  constexpr std::uint64_t kLarge = std::uint64_t{1} << 38;
  DeviceMemory memory(kLarge);
  const std::uint64_t kept = memory.allocate(4096, "kept").value();
  ASSERT_TRUE(memory.write(kept, bytes_of({1, 2, 3, 4})));
  for (int i = 0; i < 16; ++i) {
    const auto large = memory.allocate(kLarge - 8192, "large");
    ASSERT_TRUE(large.has_value()) << "round " << i;
    EXPECT_TRUE(*large >= kept + 4096 + 256 || *large + kLarge - 8192 + 256 <= kept);
    ASSERT_TRUE(memory.release(*large));
  }
  EXPECT_EQ(contents(memory, kept, 4), bytes_of({1, 2, 3, 4}));
}

/// Bytes of this process that lie in memory.
std::uint64_t resident_bytes() {
  std::uint64_t pages = 0;
  std::ifstream statm("/proc/self/statm");
  statm >> pages >> pages;
  return pages * page_bytes();
}

TEST(DeviceMemoryTest, AllocationsThatAreMadeAndFreedInALoopTakeNoMemoryOfTheMachine) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer keeps a record of each byte that was touched";
#endif
  for (const std::uint64_t bytes :
       {std::uint64_t{100}, std::uint64_t{5000}, std::uint64_t{60000}, kMebi - 1}) {
    DeviceMemory memory(1024 * kMebi);
    const std::uint64_t rounds = 128 * kMebi / std::max<std::uint64_t>(bytes, 4000);
    const std::uint64_t before = resident_bytes();
    for (std::uint64_t i = 0; i < rounds; ++i) {
      const std::uint64_t kept = memory.allocate(i % 64 == 0 ? 16 : bytes, "a").value();
      ASSERT_TRUE(memory.fill(kept, 7, 16));
      const std::uint64_t base = memory.allocate(bytes, "b").value();
      ASSERT_TRUE(memory.fill(base, 7, bytes));
      ASSERT_TRUE(memory.release(base));
      EXPECT_EQ(contents(memory, kept, 1), bytes_of({7}));
      if (i % 64 != 0) {
        ASSERT_TRUE(memory.release(kept));
      }
    }
    EXPECT_LT(resident_bytes(), before + 32 * kMebi) << "allocations of " << bytes << " bytes";
  }
}

constexpr std::uint64_t kPages =
    251;  // a process has only so many mappings, each of a whole pattern

/// Pages that begin with their number.
std::vector<std::byte> numbered_pages(std::uint64_t pages) {
  std::vector<std::byte> pattern(pages * kPageBytes);
  for (std::uint64_t page = 0; page < pages; ++page) {
    pattern[page * kPageBytes] = static_cast<std::byte>(page);
  }
  return pattern;
}

TEST(DeviceMemoryTest, VastAllocationsRepeatTheirPatternUpToTheirEnd) {
  DeviceMemory memory(std::uint64_t{1} << 36);
  const std::uint64_t bytes = (std::uint64_t{1} << 33) + kPageBytes + 3;
  const std::uint64_t base = memory.allocate_vast(bytes, "x", numbered_pages(kPages)).value();
  for (const std::uint64_t page : {0ULL, 1ULL, 77ULL, 251ULL, 1ULL << 20, 1ULL << 21}) {
    EXPECT_EQ(contents(memory, base + page * kPageBytes, 1),
              bytes_of({static_cast<int>(page % kPages)}))
        << "page " << page;
  }
  EXPECT_NE(memory.find(base, bytes), nullptr);
  EXPECT_EQ(memory.find(base, bytes + 1), nullptr);
  EXPECT_FALSE(memory.allocate_vast(bytes, "y", bytes_of({1, 2, 3}))) << "no whole page";
}

TEST(DeviceMemoryTest, WhatIsStoredToARepeatingAllocationStaysInOnePlace) {
  DeviceMemory memory(std::uint64_t{1} << 30);
  const std::uint64_t base = memory.allocate_vast(8 * kPageBytes, "x", numbered_pages(2)).value();
  EXPECT_TRUE(memory.write(base + 2 * kPageBytes, bytes_of({5})));
  EXPECT_TRUE(memory.fill(base + 4 * kPageBytes, 0, 2 * kPageBytes));
  EXPECT_TRUE(memory.fill(base + kPageBytes, 0, 4));
  EXPECT_EQ(contents(memory, base + 2 * kPageBytes, 1), bytes_of({5}));
  EXPECT_EQ(contents(memory, base + kPageBytes, 1), bytes_of({0})) << "not the pattern";
  EXPECT_EQ(contents(memory, base + 5 * kPageBytes, 1), bytes_of({0})) << "not the pattern";
  EXPECT_EQ(contents(memory, base + 7 * kPageBytes, 1), bytes_of({1}));
  ASSERT_TRUE(memory.release(base));
  EXPECT_EQ(memory.find(base), nullptr);
}

TEST(DeviceMemoryTest, VastAllocationsTakePagesForWhatIsStoredAlone) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer keeps a record of each byte that was touched";
#endif
  DeviceMemory memory(std::uint64_t{1} << 36);
  const std::uint64_t before = resident_bytes();
  const std::uint64_t bytes = std::uint64_t{1} << 34;
  const std::uint64_t input = memory.allocate_vast(bytes, "x", numbered_pages(kPages)).value();
  const std::uint64_t output = memory.allocate_vast(bytes, "y", {}).value();
  EXPECT_EQ(contents(memory, output + bytes - 1, 1), bytes_of({0}));
  for (std::uint64_t i = 0; i < 64; ++i) {
    ASSERT_TRUE(memory.write(output + i * kMebi, contents(memory, input + i * kMebi, 4)));
  }
  EXPECT_LT(resident_bytes(), before + 16 * kMebi) << "pages around what was read count, too";
}

TEST(DeviceMemoryTest, ALaunchBesideVastAllocationsMayStoreToSoManyPages) {
  DeviceMemory memory(std::uint64_t{1} << 36);
  const auto store_to = [&](std::uint64_t base, std::uint64_t pages) {
    memory.begin_undo();
    for (std::uint64_t page = 0; page < pages; ++page) memory.save_page(base + page * kPageBytes);
    const bool is_full = memory.undo_is_full();
    memory.roll_back();
    return is_full;
  };
  constexpr std::uint64_t kMany = 100'000;
  const std::uint64_t base = memory.allocate(kMany * kPageBytes, "a").value();
  EXPECT_FALSE(store_to(base, kMany)) << "what is not vast fits the machine";
  const std::uint64_t vast = memory.allocate_vast(std::uint64_t{1} << 35, "x", {}).value();
  EXPECT_FALSE(store_to(vast, 80'000));
  EXPECT_TRUE(store_to(vast, kMany));
  EXPECT_FALSE(memory.undo_is_full()) << "the next launch begins anew";
}

TEST(DeviceMemoryTest, CopiesAndFillsArriveAndStayInsideTheirAllocation) {
  DeviceMemory memory(64 * kMebi);
  const std::uint64_t a = memory.allocate(8, "a").value();
  const std::uint64_t b = memory.allocate(8, "b").value();
  EXPECT_TRUE(memory.write(a, bytes_of({1, 2, 3, 4, 5, 6, 7, 8})));
  EXPECT_TRUE(memory.copy(b, a, 8));
  EXPECT_TRUE(memory.fill(b + 2, 9, 3));
  EXPECT_EQ(contents(memory, b, 8), bytes_of({1, 2, 9, 9, 9, 6, 7, 8}));
  EXPECT_FALSE(memory.write(a + 1, bytes_of({1, 2, 3, 4, 5, 6, 7, 8})));
  EXPECT_FALSE(memory.copy(b, a, 9));
  EXPECT_FALSE(memory.fill(b, 0, 9));
}

TEST(DeviceMemoryTest, ALargeFillTakesPagesForWhatIsStoredAlone) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer keeps a record of each byte that was touched";
#endif
  DeviceMemory memory(std::uint64_t{1} << 30);
  const std::uint64_t bytes = 256 * kMebi + 5;
  const std::uint64_t before_it = memory.allocate(100, "before").value();
  const std::uint64_t base = memory.allocate(bytes, "y").value();
  const std::uint64_t behind_it = memory.allocate(100, "behind").value();
  ASSERT_TRUE(memory.fill(before_it, 1, 100));
  ASSERT_TRUE(memory.fill(behind_it, 2, 100));
  const std::uint64_t before = resident_bytes();
  ASSERT_TRUE(memory.fill(base + 3, 7, bytes - 4));
  EXPECT_LT(resident_bytes(), before + 64 * kMebi) << "its shadow alone";
  for (const std::uint64_t at : {std::uint64_t{3}, kPageBytes, 100 * kMebi + 1, bytes - 2}) {
    EXPECT_EQ(contents(memory, base + at, 1), bytes_of({7})) << at;
  }
  EXPECT_EQ(contents(memory, base, 3), bytes_of({0, 0, 0}));
  EXPECT_EQ(contents(memory, base + bytes - 1, 1), bytes_of({0}));
  EXPECT_EQ(contents(memory, before_it + 99, 1), bytes_of({1}));
  EXPECT_EQ(contents(memory, behind_it, 1), bytes_of({2}));

  ASSERT_TRUE(memory.write(base + kMebi, bytes_of({5})));
  EXPECT_EQ(contents(memory, base + kMebi, 2), bytes_of({5, 7}));
  EXPECT_EQ(contents(memory, base + 2 * kMebi, 1), bytes_of({7})) << "it stays in one place";
  ASSERT_TRUE(memory.fill(base, 0, bytes));
  EXPECT_EQ(contents(memory, base + 9 * kMebi, 1), bytes_of({0}));
}

/// Of this process.
std::size_t mappings() {
  std::ifstream maps("/proc/self/maps");
  return static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>(maps), {}, '\n'));
}

TEST(DeviceMemoryTest, FillsTakeNotAllMappingsThatAProcessMayHave) {
  DeviceMemory memory(std::uint64_t{1} << 36);
  const std::size_t before = mappings();
  std::uint64_t last = 0;
  for (int i = 0; i < 65; ++i) {
    last = memory.allocate(256 * kMebi, "y").value();
    ASSERT_TRUE(memory.fill(last, 7, 256 * kMebi));
  }
  EXPECT_LT(mappings(), before + 16'600);
  EXPECT_EQ(contents(memory, last + 77 * kMebi, 1), bytes_of({7})) << "written, not mapped";
}

TEST(DeviceMemoryTest, AFilledAllocationLeavesNothingBehindWhenItIsFreed) {
  DeviceMemory memory(std::uint64_t{1} << 30);
  const std::uint64_t base = memory.allocate(64 * kMebi, "y").value();
  const std::uint64_t behind_it = memory.allocate(100, "behind").value();
  ASSERT_TRUE(memory.fill(behind_it, 2, 100));
  ASSERT_TRUE(memory.fill(base, 7, 64 * kMebi));
  ASSERT_TRUE(memory.release(base));
  EXPECT_EQ(*memory.host(base + 5 * kMebi), std::byte{0});
  EXPECT_EQ(contents(memory, behind_it, 1), bytes_of({2}));
}

TEST(DeviceMemoryTest, ALargeZeroFillKeepsItsNeighbours) {
  DeviceMemory memory(64 * kMebi);
  const std::uint64_t base = memory.allocate(5 * kMebi, "a").value();
  ASSERT_TRUE(memory.fill(base, 7, 5 * kMebi));
  ASSERT_TRUE(memory.fill(base + 1001, 0, 4 * kMebi));
  EXPECT_EQ(contents(memory, base + 1000, 2), bytes_of({7, 0}));
  EXPECT_EQ(contents(memory, base + 1000 + 4 * kMebi, 2), bytes_of({0, 7}));
  EXPECT_EQ(contents(memory, base + 2 * kMebi, 1), bytes_of({0}));
}

TEST(DeviceMemoryTest, OnlyWrittenBytesAreInitialised) {
  DeviceMemory memory(64 * kMebi);
  const std::uint64_t base = memory.allocate(4096, "a").value();
  // The oracle is one bool per byte; ranges are random, so edges within shadow bytes are covered.
  std::array<bool, 4096> written{};
  std::mt19937 random(1);
  for (int round = 0; round < 400; ++round) {
    const std::uint64_t begin = random() % 4096;
    const std::uint64_t count = random() % std::min<std::uint64_t>(4097 - begin, 70);
    const bool set = random() % 2 != 0;
    if (set) memory.mark_initialized(base + begin, count);
    if (!set) memory.mark_uninitialized(base + begin, count);
    std::fill_n(written.begin() + static_cast<std::ptrdiff_t>(begin), count, set);
    const std::uint64_t at = random() % 4096;
    const std::uint64_t size = random() % std::min<std::uint64_t>(4097 - at, 20);
    const bool expected = std::all_of(written.begin() + static_cast<std::ptrdiff_t>(at),
                                      written.begin() + static_cast<std::ptrdiff_t>(at + size),
                                      [](bool byte) { return byte; });
    ASSERT_EQ(memory.is_initialized(base + at, size), expected) << "round " << round;
  }
}

TEST(DeviceMemoryTest, AReleasedRangeIsUninitialisedAgain) {
  DeviceMemory memory(64 * kMebi);
  const std::uint64_t base = memory.allocate(3 * kMebi, "a").value();
  ASSERT_TRUE(memory.fill(base, 1, 3 * kMebi));
  ASSERT_TRUE(memory.release(base));
  EXPECT_FALSE(memory.is_initialized(base, 1));
  EXPECT_FALSE(memory.is_initialized(base + 2 * kMebi, 1));
  EXPECT_FALSE(memory.is_initialized(base + 3 * kMebi - 1, 1));
}

TEST(DeviceMemoryTest, NeighbouringWordsMarkedFromTwoThreadsAreBothInitialised) {
  DeviceMemory memory(64 * kMebi);
  constexpr std::uint64_t kWords = 1 << 16;
  const std::uint64_t base = memory.allocate(4 * kWords, "a").value();
  const auto mark_every_second = [&](std::uint64_t first) {
    for (std::uint64_t word = first; word < kWords; word += 2) {
      memory.mark_initialized(base + 4 * word, 4);
    }
  };
  std::thread even(mark_every_second, 0);
  std::thread odd(mark_every_second, 1);
  even.join();
  odd.join();
  EXPECT_TRUE(memory.is_initialized(base, 4 * kWords));
}

TEST(DeviceMemoryTest, RollBackRestoresBytesAndShadowOfEverySavedPage) {
  DeviceMemory memory(64 * kMebi);
  const std::uint64_t base = memory.allocate(64 * 4096, "a").value();
  ASSERT_TRUE(memory.fill(base, 5, 32 * 4096));
  const std::vector<std::byte> before = contents(memory, base, 64 * 4096);
  memory.begin_undo();
  const auto store = [&](std::uint64_t offset) {
    memory.save_page(base + offset);
    *memory.host(base + offset) = std::byte{9};
    memory.mark_initialized(base + offset, 1);
  };
  for (std::uint64_t offset = 0; offset < 64 * 4096; offset += 1000) store(offset);
  ASSERT_NE(contents(memory, base, 64 * 4096), before);
  memory.roll_back();
  EXPECT_EQ(contents(memory, base, 64 * 4096), before);
  EXPECT_TRUE(memory.is_initialized(base, 32 * 4096));
  EXPECT_FALSE(memory.is_initialized(base + 40000 * 4, 1));
  EXPECT_FALSE(memory.is_initialized(base + 63 * 4096, 1));
}

TEST(DeviceMemoryTest, ACommittedLaunchCannotBeRolledBack) {
  DeviceMemory memory(64 * kMebi);
  const std::uint64_t base = memory.allocate(4096, "a").value();
  ASSERT_TRUE(memory.fill(base, 1, 4096));
  memory.begin_undo();
  memory.save_page(base);
  *memory.host(base) = std::byte{2};
  memory.commit_undo();
  memory.roll_back();
  EXPECT_EQ(contents(memory, base, 1), bytes_of({2}));
  memory.begin_undo();
  memory.save_page(base);
  *memory.host(base) = std::byte{3};
  memory.roll_back();
  EXPECT_EQ(contents(memory, base, 1), bytes_of({2})) << "the page is saved anew in a new launch";
}

TEST(DeviceMemoryTest, PagesSavedFromManyThreadsHoldTheBytesFromBeforeTheLaunch) {
  DeviceMemory memory(64 * kMebi);
  constexpr std::uint64_t kBytes = 256 * 4096;
  const std::uint64_t base = memory.allocate(kBytes, "a").value();
  ASSERT_TRUE(memory.fill(base, 1, kBytes));
  memory.begin_undo();
  const auto run = [&](std::uint64_t thread) {
    for (std::uint64_t offset = thread; offset < kBytes; offset += 4 * 61) {
      memory.save_page(base + offset);
      *memory.host(base + offset) = std::byte{2};
    }
  };
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 4; ++i) threads.emplace_back(run, i * 61);
  for (std::thread& thread : threads) thread.join();
  memory.roll_back();
  EXPECT_THAT(contents(memory, base, kBytes), testing::Each(std::byte{1}));
}

/// Shared memory as the process that it is shared with sees it.
class OtherSide {
 public:
  explicit OtherSide(const SharedBlock& block)
      : bytes_(block.mapped_bytes),
        at_(static_cast<unsigned char*>(
            mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, block.memory.get(), 0))) {}
  ~OtherSide() { munmap(at_, bytes_); }
  OtherSide(const OtherSide&) = delete;
  OtherSide& operator=(const OtherSide&) = delete;
  unsigned char& operator[](std::uint64_t offset) { return at_[offset]; }

 private:
  std::uint64_t bytes_;
  unsigned char* at_;
};

TEST(DeviceMemoryTest, SharedMemoryIsOneForBothSides) {
  DeviceMemory memory(64 * kMebi);
  const SharedBlock block = memory.allocate_shared(5000, "shared", Sharing::managed).value();
  OtherSide other(block);
  EXPECT_EQ(block.address % 65536, 0U) << "on pages of any kernel";
  EXPECT_EQ(block.mapped_bytes, 65536U);
  EXPECT_TRUE(memory.is_initialized(block.address, 5000)) << "nobody sees the other side's stores";
  ASSERT_TRUE(memory.write(block.address + 4998, bytes_of({7, 8})));
  EXPECT_EQ(other[4999], 8);
  other[1] = 9;
  EXPECT_EQ(contents(memory, block.address, 3), bytes_of({0, 9, 0}));
  EXPECT_EQ(memory.find(block.address, 5001), nullptr) << "bounds are those of the allocation";
}

TEST(DeviceMemoryTest, FillingALargeSharedBlockWithZerosReachesTheOtherSide) {
  DeviceMemory memory(64 * kMebi);
  const SharedBlock block = memory.allocate_shared(4 * kMebi, "shared", Sharing::managed).value();
  OtherSide other(block);
  for (std::uint64_t i = 0; i < 4 * kMebi; i += 1024) other[i] = 1;
  ASSERT_TRUE(memory.fill(block.address, 0, 4 * kMebi));
  for (std::uint64_t i = 0; i < 4 * kMebi; i += 1024) ASSERT_EQ(other[i], 0);
}

TEST(DeviceMemoryTest, TheOtherSideCannotTakeSharedMemoryAway) {
  DeviceMemory memory(64 * kMebi);
  const SharedBlock block = memory.allocate_shared(8192, "shared", Sharing::pinned).value();
  EXPECT_NE(ftruncate(block.memory.get(), 0), 0);
  EXPECT_NE(ftruncate(block.memory.get(), 1 << 20), 0) << "nor make more of it than was counted";
  EXPECT_NE(fcntl(block.memory.get(), F_ADD_SEALS, F_SEAL_WRITE), 0);
  // A hole reads as zeros, which is the other side's own loss.
  fallocate(block.memory.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 8192);
  EXPECT_TRUE(memory.fill(block.address, 5, 8192));
  EXPECT_EQ(contents(memory, block.address + 8190, 2), bytes_of({5, 5}));
}

TEST(DeviceMemoryTest, ReleasedSharedMemoryIsTheOtherSidesAlone) {
  DeviceMemory memory(64 * kMebi);
  const SharedBlock block = memory.allocate_shared(100, "shared", Sharing::managed).value();
  OtherSide other(block);
  ASSERT_TRUE(memory.release(block.address));
  other[0] = 77;
  EXPECT_EQ(std::to_integer<int>(*memory.host(block.address)), 0);
  EXPECT_EQ(memory.find(block.address), nullptr);
  EXPECT_EQ(memory.allocated(), 0U);
}

TEST(DeviceMemoryTest, PinnedMemoryTakesNothingFromTheDevicesButHasALimitOfItsOwn) {
  DeviceMemory memory(1 * kMebi);
  ASSERT_TRUE(memory.allocate(kMebi, "device"));
  const auto pinned = memory.allocate_shared(kMebi - 100, "pinned", Sharing::pinned);
  ASSERT_TRUE(pinned);
  EXPECT_EQ(memory.allocated(), kMebi);
  EXPECT_EQ(memory.pinned(), kMebi - 100);
  EXPECT_FALSE(memory.allocate_shared(101, "pinned", Sharing::pinned));
  EXPECT_FALSE(memory.allocate_shared(1, "managed", Sharing::managed));
  ASSERT_TRUE(memory.release(pinned->address));
  EXPECT_EQ(memory.pinned(), 0U);
}

TEST(DeviceMemoryTest, NobodyKnowsWhetherSharedMemoryHasChanged) {
  DeviceMemory memory(64 * kMebi);
  const std::uint64_t own = memory.allocate(64, "own").value();
  const SharedBlock block = memory.allocate_shared(64, "shared", Sharing::managed).value();
  EXPECT_TRUE(memory.unchanged_since(own, memory.changes()));
  EXPECT_FALSE(memory.unchanged_since(block.address, memory.changes()));
}

TEST(DeviceMemoryTest, RollsBackWhatAKernelStoredToSharedMemory) {
  DeviceMemory memory(64 * kMebi);
  const SharedBlock block = memory.allocate_shared(64, "shared", Sharing::managed).value();
  OtherSide other(block);
  other[3] = 4;
  memory.begin_undo();
  memory.save_page(block.address);
  *memory.host(block.address + 3) = std::byte{9};
  EXPECT_EQ(other[3], 9);
  memory.roll_back();
  EXPECT_EQ(other[3], 4);
}

}  // namespace
}  // namespace simgpu

#include "simgpu/counters/sampled_l2.h"

#include <gmock/gmock.h>

#include "simgpu/counters/traffic.h"

namespace simgpu::sampled_l2_test {
namespace {

constexpr std::uint64_t kL2Bytes = std::uint64_t{1} << 20;

/// Appends requests for whole lines, by one of two instructions that take turns.
void ask(TrafficLog& log, TrafficEntry::Kind kind, std::uint64_t first_line, std::uint64_t lines) {
  const std::uint32_t pc = log.entries.empty() ? 0 : 1 - log.entries.back().pc;
  for (std::uint64_t i = 0; i < lines; ++i) {
    TrafficEntry entry;
    entry.set_sector((first_line + i) * kSectorsPerLine);
    entry.count = kSectorsPerLine;
    entry.kind = kind;
    entry.pc = pc;
    entry.opens = 1;
    log.entries.push_back(entry);
  }
}

/// A launch whose blocks' logs a function writes, and how many of them were asked for.
struct Launch {
  std::uint64_t rows = 1, columns = 1, resident = 1;
  std::function<void(std::uint64_t x, std::uint64_t y, TrafficLog& log)> write;
  bool even = true;
  std::uint64_t asked = 0;
  LoadCountsByPc loads{};  ///< of whole()

  TrafficLog log_of(std::uint64_t block) const {
    TrafficLog log;
    log.block = block;
    write(block % columns, block / columns, log);
    return log;
  }

  KernelCounters whole() {
    gpu_spec::GpuSpec gpu;
    gpu.l2_bytes = static_cast<std::int64_t>(kL2Bytes);
    LaunchTraffic traffic(gpu, resident);
    for (std::uint64_t block = 0; block < rows * columns; ++block) {
      traffic.retire(std::make_unique<TrafficLog>(log_of(block)));
    }
    KernelCounters counters;
    traffic.finish(counters);
    loads = traffic.loads();
    return counters;
  }

  KnownL2 sampled() {
    KnownTraffic traffic;
    traffic.blocks = rows * columns;
    traffic.rows = rows;
    traffic.resident_blocks = resident;
    traffic.even = even;
    for (std::uint64_t block = 0; block < traffic.blocks; ++block) {
      const TrafficLog log = log_of(block);
      traffic.entries += log.entries.size();
      for (const TrafficEntry& entry : log.entries) traffic.sectors += entry.count;
    }
    asked = 0;
    traffic.log_of = [this](std::uint64_t block, TrafficLog& log) {
      ++asked;
      log = log_of(block);
    };
    return run_through_l2(traffic, kL2Bytes);
  }
};

/// Within one percent of the whole launch; `some`: not all blocks may have been needed.
void expect_told(Launch launch, bool some) {
  const KernelCounters whole = launch.whole();
  const KnownL2 known = launch.sampled();
  const L2Cache::Counts& sampled = known.counts;
  const auto near = [](std::uint64_t a, std::uint64_t b, const char* what) {
    EXPECT_NEAR(static_cast<double>(a), static_cast<double>(b), 0.01 * static_cast<double>(b))
        << what;
  };
  near(sampled.hits + sampled.dram_reads, whole.l2_hit_sectors + whole.dram_read_bytes / 32,
       "hits and misses");
  near(sampled.dram_reads, whole.dram_read_bytes / 32, "DRAM reads");
  near(sampled.dram_writes, whole.dram_write_bytes / 32, "DRAM writes");
  ASSERT_EQ(known.loads.size(), launch.loads.size());
  for (std::size_t pc = 0; pc < known.loads.size(); ++pc) {
    const auto share = [](const LoadCounts& loads) {
      return static_cast<double>(loads.from_dram) / static_cast<double>(loads.at_l2);
    };
    EXPECT_NEAR(share(known.loads[pc]), share(launch.loads[pc]), 0.02) << "loads of " << pc;
  }
  if (some) {
    EXPECT_LT(launch.asked, launch.rows * launch.columns * 3 / 4);
  } else {
    EXPECT_GE(launch.asked, launch.rows * launch.columns);
  }
}

/// A product of `rows` x `columns` tiles, `depth` tiles deep; a tile is `tile` lines.
Launch product(std::uint64_t rows, std::uint64_t columns, std::uint64_t depth, std::uint64_t tile,
               std::uint64_t resident) {
  return {rows, columns, resident, [=](std::uint64_t x, std::uint64_t y, TrafficLog& log) {
            const std::uint64_t b = rows * depth * tile, c = b + depth * columns * tile;
            for (std::uint64_t k = 0; k < depth; ++k) {
              ask(log, TrafficEntry::Kind::load, (y * depth + k) * tile, tile);
              ask(log, TrafficEntry::Kind::load, b + (k * columns + x) * tile, tile);
            }
            ask(log, TrafficEntry::Kind::store, c + (y * columns + x) * tile, tile);
          }};
}

TEST(SampledL2Test, OfAStream) {
  expect_told({1, 100'000, 200,
               [](std::uint64_t x, std::uint64_t, TrafficLog& log) {
                 ask(log, TrafficEntry::Kind::load, 8 * x, 8);
                 ask(log, TrafficEntry::Kind::store, 800'000 + 8 * x, 8);
               }},
              true);
}

TEST(SampledL2Test, OfProductsWhoseWavesEndInsideRows) {
  expect_told(product(80, 100, 32, 8, 72), true);
  expect_told(product(200, 40, 32, 8, 72), true);
  expect_told(product(64, 64, 32, 8, 64), true);
}

TEST(SampledL2Test, OfDataThatStaysInTheCache) {
  // All blocks read the same 512 KiB; nothing ever replaces the cache's content.
  expect_told({1, 5'000, 100,
               [](std::uint64_t x, std::uint64_t, TrafficLog& log) {
                 ask(log, TrafficEntry::Kind::load, x % 16 * 256, 256);
               }},
              false);
}

TEST(SampledL2Test, OfDataThatComesAgainAfterManyWaves) {
  // Rows read the same data: half of the cache, or twice of it.
  for (const std::uint64_t lines : {4096U, 16384U}) {
    const std::uint64_t columns = lines / 8;
    const std::uint64_t rows = 200'000 / columns;
    expect_told({rows, columns, 20,
                 [=](std::uint64_t x, std::uint64_t y, TrafficLog& log) {
                   ask(log, TrafficEntry::Kind::load, 8 * x, 8);
                   ask(log, TrafficEntry::Kind::store, lines + (y * columns + x), 1);
                 }},
                true);
  }
}

TEST(SampledL2Test, OfAGridWhoseSecondHalfDoesSomethingElse) {
  expect_told({2, 100'000, 200,
               [](std::uint64_t x, std::uint64_t y, TrafficLog& log) {
                 ask(log, TrafficEntry::Kind::load, y == 0 ? 8 * x : 0, 8);
               }},
              false);
}

/// Causal attention: a block reads the keys and values (`tile` lines each) up to its own tile, of a
/// head that `group` heads share, and every block one line that all of them read.
Launch attention(std::uint64_t tiles, std::uint64_t heads, std::uint64_t group, std::uint64_t tile,
                 std::uint64_t resident) {
  const auto write = [=](std::uint64_t x, std::uint64_t y, TrafficLog& log) {
    const std::uint64_t keys = heads * tiles * tile, values = 2 * keys, out = 3 * keys;
    const std::uint64_t own = (y * tiles + x) * tile, head = y / group * tiles * tile;
    ask(log, TrafficEntry::Kind::load, own, tile);
    for (std::uint64_t j = 0; j <= x; ++j) {
      ask(log, TrafficEntry::Kind::load, keys + head + j * tile, tile);
      ask(log, TrafficEntry::Kind::load, values + head + j * tile, tile);
      ask(log, TrafficEntry::Kind::load, 5 * keys, 1);
    }
    ask(log, TrafficEntry::Kind::store, out + own, tile);
  };
  return {heads, tiles, resident, write, false};
}

TEST(SampledL2Test, OfCausalAttentionWhoseHeadsFitTheCacheOrNot) {
  // Keys and values of a head: 0.25, 0.5, 1 and 4 MiB, in a cache of 1 MiB.
  expect_told(attention(64, 24, 1, 16, 40), false);
  expect_told(attention(64, 12, 3, 32, 200), false);
  expect_told(attention(256, 4, 1, 15, 100), false);
  expect_told(attention(128, 4, 2, 128, 40), false);
}

}  // namespace
}  // namespace simgpu::sampled_l2_test

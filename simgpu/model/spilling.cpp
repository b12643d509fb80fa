#include "simgpu/model/spilling.h"

#include <cmath>

namespace simgpu {

void add_spills(std::span<const InstructionSpills> spills, std::span<const ExecutionCount> executed,
                unsigned frame_bytes, std::uint64_t warps, KernelCounters& counters) {
  // A word of 32 threads is a line of 128 bytes, which has four sectors.
  constexpr double kSectorsOfAWord = 4;
  InstructionSpills all;
  for (std::size_t i = 0; i < spills.size() && i < executed.size(); ++i) {
    const auto times = static_cast<double>(executed[i].warps);
    all.loads += times * spills[i].loads;
    all.stores += times * spills[i].stores;
    all.load_words += times * spills[i].load_words;
    all.store_words += times * spills[i].store_words;
  }
  const auto whole = [](double count) { return static_cast<std::uint64_t>(std::llround(count)); };
  const std::uint64_t loads = whole(all.loads), stores = whole(all.stores);
  if (loads + stores == 0) return;
  counters.local_load_requests += loads;
  counters.local_store_requests += stores;
  counters.local_spilling_requests += loads + stores;
  counters.local_load_sectors += whole(kSectorsOfAWord * all.load_words);
  counters.local_store_sectors += whole(kSectorsOfAWord * all.store_words);
  counters.local_tag_lookups += whole(all.load_words + all.store_words);
  // 32 threads' bytes are as many sectors of 32 bytes.
  counters.local_touched_sectors += warps * frame_bytes;
}

}  // namespace simgpu

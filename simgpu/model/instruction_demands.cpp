#include "simgpu/model/instruction_demands.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <numeric>
#include <utility>

#include "simgpu/isa/pipes.h"
#include "simgpu/model/latency.h"
#include "simgpu/model/limiters.h"
#include "simgpu/model/local_memory.h"

namespace simgpu::model {
namespace {

constexpr double kBytesOfASector = 32;
constexpr double kSectorsOfAWord = 4;  ///< that each of 32 threads has in local memory

bool stores(const InstructionInfo& instruction) {
  return instruction.cls == InstructionClass::global_store ||
         instruction.cls == InstructionClass::local_store || instruction.only_stores;
}

bool is_local(const InstructionInfo& instruction) {
  return instruction.cls == InstructionClass::local_load ||
         instruction.cls == InstructionClass::local_store;
}

/// What an instruction asks of L1 and beyond, spilled registers included.
struct Asked {
  double requests = 0, sectors = 0, lines = 0, bytes = 0;
  double global_reads = 0, global_writes = 0;  ///< sectors beyond L1
  double local_reads = 0, local_writes = 0;    ///< likewise
};

double as_number(std::uint64_t count) { return static_cast<double>(count); }

/// Reads what the launch's instructions ask for.
class Asking {
 public:
  Asking(const Work& work, const AccessCountsByPc& accesses)
      : work_(work), accesses_(accesses), beyond_l1_(1 - local_shares(work).l1) {}

  AccessCounts accesses(std::size_t i) const {
    return i < accesses_.size() ? accesses_[i] : AccessCounts{};
  }

  Asked of(std::size_t i) const {
    const AccessCounts counts = accesses(i);
    const InstructionInfo& instruction = work_.program[i];
    Asked asked{.requests = as_number(counts.requests),
                .sectors = as_number(counts.sectors),
                .lines = as_number(counts.lines),
                .bytes = as_number(counts.bytes)};
    const bool is_store = stores(instruction);
    if (is_local(instruction)) {
      (is_store ? asked.local_writes : asked.local_reads) = asked.sectors * beyond_l1_;
    } else {
      (is_store ? asked.global_writes : asked.global_reads) =
          asked.sectors - as_number(counts.l1_hits);
    }
    add_spills(i, asked);
    return asked;
  }

 private:
  void add_spills(std::size_t i, Asked& asked) const {
    const InstructionSpills spills = work_.spills_of(i);
    const double times = as_number(work_.executed[i].warps);
    asked.requests += times * (spills.loads + spills.stores);
    asked.lines += times * (spills.load_words + spills.store_words);
    asked.sectors += times * kSectorsOfAWord * (spills.load_words + spills.store_words);
    asked.local_reads += times * kSectorsOfAWord * spills.load_words * beyond_l1_;
    asked.local_writes += times * kSectorsOfAWord * spills.store_words * beyond_l1_;
  }

  const Work& work_;
  const AccessCountsByPc& accesses_;
  const double beyond_l1_;  ///< share of local memory's sectors
};

template <class Of>
Demands of_each(const Work& work, const Of& of) {
  Demands demands(work.program.size());
  for (std::size_t i = 0; i < demands.size(); ++i) {
    if (work.executed[i].warps > 0) demands[i] = of(i);
  }
  return demands;
}

void add(Demands& sum, const Demands& more) {
  for (std::size_t i = 0; i < std::min(sum.size(), more.size()); ++i) sum[i] += more[i];
}

/// Machine instructions that occupy the pipes of some classes.
Demands on_pipes(const Work& work, std::initializer_list<InstructionClass> classes) {
  return of_each(work, [&](std::size_t i) {
    double machine = 0;
    for (const InstructionClass cls : classes) machine += on_pipe(work.program[i], cls);
    return machine * as_number(work.executed[i].warps);
  });
}

Demands issue_slots(const Work& work) {
  return of_each(work, [&](std::size_t i) {
    const InstructionSpills spills = work.spills_of(i);
    return (work.program[i].issue_slots() + spills.loads + spills.stores) *
           as_number(work.executed[i].warps);
  });
}

Demands tensor_work(const Work& work) {
  return of_each(work, [&](std::size_t i) {
    const InstructionInfo& instruction = work.program[i];
    if (instruction.cls != InstructionClass::tensor) return 0.0;
    return tensor_cycles(instruction, work.gpu) * as_number(work.executed[i].warps);
  });
}

/// Addresses, lines or bytes, whichever L1 takes longest for in the whole launch.
Demands l1_work(const Work& work, const Asking& asking) {
  const Demands addresses = of_each(
      work, [&](std::size_t i) { return l1_cycles_per_request(work.gpu) * asking.of(i).requests; });
  const Demands lines = of_each(work, [&](std::size_t i) { return asking.of(i).lines; });
  const Demands bytes = of_each(work, [&](std::size_t i) {
    const Asked asked = asking.of(i);
    const double loaded = stores(work.program[i]) ? 0 : asked.bytes;
    return std::max(asked.sectors * kBytesOfASector, loaded) / l1_bytes_per_cycle(work.gpu);
  });
  const std::array<const Demands*, 3> all{&addresses, &lines, &bytes};
  return **std::ranges::max_element(all, {}, [](const Demands* one) { return sum_of(*one); });
}

bool is_of_constants(const InstructionInfo& instruction) {
  return instruction.cls == InstructionClass::constant_load;
}

Demands wavefronts(const Work& work, const Asking& asking, bool of_atomics) {
  return of_each(work, [&](std::size_t i) {
    const InstructionInfo& instruction = work.program[i];
    if (is_of_constants(instruction) || is_atomic(instruction.cls) != of_atomics) return 0.0;
    return as_number(asking.accesses(i).wavefronts);
  });
}

/// Of the load/store pipe, where the part that the term is about is the largest.
Demands pipe_work(const Work& work, const Asking& asking, Limiter term) {
  const LoadStorePipe pipe = load_store_pipe(work);
  const auto own = [&](Limiter part) -> Demands {
    switch (part) {
      case Limiter::shared:
        return wavefronts(work, asking, false);
      case Limiter::shared_atomics:
        return wavefronts(work, asking, true);
      case Limiter::exchange:
        return on_pipes(work, {InstructionClass::warp_exchange});
      default:
        return l1_work(work, asking);
    }
  };
  const std::array parts{std::pair{Limiter::l1, pipe.l1}, std::pair{Limiter::shared, pipe.shared},
                         std::pair{Limiter::shared_atomics, pipe.shared_atomics},
                         std::pair{Limiter::exchange, pipe.exchange}};
  const auto part = std::ranges::find(parts, term, &std::pair<Limiter, double>::first);
  if (pipe.time_of(part->second) <= part->second) return own(term);
  Demands all(work.program.size());
  for (const auto& [kind, time] : parts) add(all, scaled_to(time, own(kind)));
  return all;
}

/// Sectors, or where L2 takes longer for what is missing of partly stored ones, these.
Demands l2_work(const Work& work, const AccessCountsByPc& accesses) {
  const KernelCounters& c = work.counters;
  const double missing =
      as_number(c.global_store_sectors) - as_number(c.global_store_bytes) / kBytesOfASector;
  const double rate = work.gpu.partial_sectors_per_cycle;
  if (rate == 0 || work.microseconds(missing / rate) < l2_time(work)) {
    return l2_sectors(work, accesses);
  }
  const Asking asking(work, accesses);
  return of_each(work, [&](std::size_t i) {
    const AccessCounts counts = asking.accesses(i);
    if (!stores(work.program[i]) || is_local(work.program[i])) return 0.0;
    return std::max(0.0, as_number(counts.sectors) - as_number(counts.bytes) / kBytesOfASector);
  });
}

Demands dram_work(const Work& work, const AccessCountsByPc& accesses) {
  const DramBytes bytes = dram_bytes(work, accesses);
  return of_each(work, [&](std::size_t i) {
    return as_dram_reads(bytes.read[i], bytes.written[i], work.gpu);
  });
}

/// Threads that ask L2 for an atomic operation.
Demands global_atomics(const Work& work) {
  return of_each(work, [&](std::size_t i) {
    const bool counts = work.program[i].cls == InstructionClass::global_atomic;
    return counts ? as_number(work.executed[i].threads) : 0.0;
  });
}

}  // namespace

double sum_of(const Demands& demands) {
  return std::accumulate(demands.begin(), demands.end(), 0.0);
}

Demands scaled_to(double whole, Demands demands) {
  const double sum = sum_of(demands);
  const double factor = sum > 0 ? whole / sum : 0;
  for (double& demand : demands) demand *= factor;
  return demands;
}

Demands barrier_waits(const Work& work) {
  return of_each(work, [&](std::size_t i) {
    const bool waits = work.program[i].cls == InstructionClass::barrier;
    return waits ? as_number(work.executed[i].warps) : 0.0;
  });
}

Demands l2_sectors(const Work& work, const AccessCountsByPc& accesses) {
  const Asking asking(work, accesses);
  return of_each(work, [&](std::size_t i) {
    const Asked asked = asking.of(i);
    return asked.global_reads + asked.global_writes + asked.local_reads + asked.local_writes;
  });
}

DramBytes dram_bytes(const Work& work, const AccessCountsByPc& accesses) {
  const Asking asking(work, accesses);
  const double local_misses = 1 - local_shares(work).l2;
  const Demands read = of_each(work, [&](std::size_t i) {
    const Asked asked = asking.of(i);
    const FarShares far = far_shares(i, work);
    const double misses = far.beyond_l1 > 0 ? far.from_dram / far.beyond_l1 : 0;
    return misses * asked.global_reads + local_misses * asked.local_reads;
  });
  const Demands written = of_each(work, [&](std::size_t i) {
    const Asked asked = asking.of(i);
    const bool changes = work.program[i].cls == InstructionClass::global_atomic;
    return asked.global_writes + (changes ? asked.global_reads : 0) +
           local_misses * asked.local_writes;
  });
  return {scaled_to(as_number(work.counters.dram_read_bytes), read),
          scaled_to(as_number(work.counters.dram_write_bytes), written)};
}

Demands demands_of(Limiter term, const Work& work, const AccessCountsByPc& accesses) {
  const Asking asking(work, accesses);
  switch (term) {
    case Limiter::issue:
      return issue_slots(work);
    case Limiter::fp32:
      return on_pipes(work, {InstructionClass::fp32});
    case Limiter::fp64:
      return on_pipes(work, {InstructionClass::fp64});
    case Limiter::fp16:
      return on_pipes(work, {InstructionClass::fp16});
    case Limiter::integer:
      return on_pipes(work, {InstructionClass::integer});
    case Limiter::special:
      return on_pipes(work, {InstructionClass::special, InstructionClass::conversion});
    case Limiter::tensor:
      return tensor_work(work);
    case Limiter::shared:
    case Limiter::shared_atomics:
    case Limiter::exchange:
    case Limiter::l1:
      return pipe_work(work, asking, term);
    case Limiter::constant:
      return of_each(work, [&](std::size_t i) {
        return is_of_constants(work.program[i]) ? as_number(asking.accesses(i).conflicts) : 0.0;
      });
    case Limiter::l2:
      return l2_work(work, accesses);
    case Limiter::dram:
      return dram_work(work, accesses);
    case Limiter::atomics:
      return global_atomics(work);
    case Limiter::host_loads:
      return of_each(work, [&](std::size_t i) { return asking.of(i).global_reads; });
    case Limiter::host_stores:
    case Limiter::managed_stores:
      return of_each(work, [&](std::size_t i) { return asking.of(i).global_writes; });
    case Limiter::latency:
    case Limiter::launch:
      return {};
  }
  return {};
}

}  // namespace simgpu::model

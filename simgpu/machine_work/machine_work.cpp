#include "simgpu/machine_work/machine_work.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "simgpu/counters/bank_conflicts.h"
#include "simgpu/counters/request_sectors.h"

namespace simgpu {
namespace {

std::uint64_t whole(double count) { return static_cast<std::uint64_t>(std::llround(count)); }

double as_number(std::uint64_t count) { return static_cast<double>(count); }

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

/// The class whose pipe executes it. Multiplications of integers are done where those of fp32 are,
/// and comparisons, selections and moves of any type by the units for integers (Nsight Compute's
/// documentation, "Pipelines").
InstructionClass pipe_class(const sass::Instruction& instruction) {
  constexpr std::array<std::string_view, 2> kMultiply{"IMAD", "IDP"};
  constexpr std::array<std::string_view, 6> kLogic{"FMNMX", "FSEL", "FSET", "FSETP", "MOV", "SEL"};
  if (is_one_of(instruction.name, kMultiply)) return InstructionClass::fp32;
  if (is_one_of(instruction.name, kLogic)) return InstructionClass::integer;
  return instruction.cls;
}

/// What ptxas counts and adds with before an atomic that one lane then does for all.
constexpr std::array<std::string_view, 3> kAcrossTheWarp{"REDUX", "UPOPC", "POPC"};

/// What was executed of one line of PTX, that is of one instruction, in all copies of it.
struct Line {
  std::vector<std::size_t> pcs;
  double warps = 0;         ///< that executed it
  double machine = 0;       ///< warps that execute instructions of its class that were made of it
  bool adds_first = false;  ///< an atomic whose operands are added up across the warp before
};

/// What a machine instruction asks of memory, if it is executed once.
struct Request {
  double requests = 0, sectors = 0, lines = 0, bytes = 0, misses = 0;
  double bank_requests = 0, wavefronts = 0, conflicts = 0;
};

class Translation {
 public:
  Translation(const sass::CutCode& code, const sass::Alignment& alignment, const PtxLaunch& launch)
      : code_(code), alignment_(alignment), launch_(launch) {
    for (std::size_t pc = 0; pc < launch.program.size(); ++pc) {
      if (launch.program[pc].ptx_line != 0) lines_[launch.program[pc].ptx_line].pcs.push_back(pc);
    }
    for (auto& [number, line] : lines_) {
      for (const std::size_t pc : line.pcs) {
        if (accesses_memory(pc) || is_tensor(pc))
          line.warps += as_number(launch.executed[pc].warps);
      }
    }
  }

  MachineWork run() {
    count_copies();
    look_for_ghosts();
    place_blocks();
    for (std::size_t i = 0; i < code_.blocks.size(); ++i) add_block(i);
    work_.counters = launch_.counters;
    for (std::size_t pc = 0; pc < launch_.accesses.size(); ++pc) {
      change_counters(launch_.program[pc].cls, launch_.accesses[pc], false);
    }
    for (std::size_t i = 0; i < work_.accesses.size(); ++i) {
      change_counters(work_.program[i].cls, work_.accesses[i], true);
    }
    return std::move(work_);
  }

 private:
  bool accesses_memory(std::size_t pc) const { return launch_.program[pc].access_bytes != 0; }
  bool is_tensor(std::size_t pc) const {
    return launch_.program[pc].cls == InstructionClass::tensor;
  }

  const Line* line_of(const sass::Instruction& instruction) const {
    const auto found = lines_.find(instruction.ptx_line);
    return found == lines_.end() ? nullptr : &found->second;
  }

  /// The instruction of PTX that it was made of, of the same kind: nullptr where there is none, as
  /// for spilled registers.
  const InstructionInfo* origin(const sass::Instruction& instruction, const Line& line) const {
    for (const std::size_t pc : line.pcs) {
      const InstructionInfo& info = launch_.program[pc];
      if (info.cls == instruction.cls || info.cls == InstructionClass::generic_access) return &info;
    }
    return nullptr;
  }

  double warps_of(std::size_t block) const { return alignment_.blocks[block].warps; }

  void count_copies() {
    for (std::size_t i = 0; i < code_.blocks.size(); ++i) {
      for (std::uint32_t at = code_.blocks[i].first; at < code_.blocks[i].last; ++at) {
        const sass::Instruction& instruction = code_.code.instructions[at];
        const auto found = lines_.find(instruction.ptx_line);
        if (found == lines_.end()) continue;
        if (is_one_of(instruction.name, kAcrossTheWarp)) found->second.adds_first = true;
        if (origin(instruction, found->second) == nullptr) continue;
        found->second.machine += warps_of(i);
      }
      uses_groups_ = uses_groups_ || has_groups(code_.blocks[i]);
    }
  }

  /// Loads of PTX that have no machine code, because their values do not matter or because ptxas
  /// has merged them: what they fetch is fetched by those that find it in L1, of which those come
  /// first that look for it just behind.
  void look_for_ghosts() {
    double fetched = 0, found = 0, found_behind = 0;
    for (const auto& [number, line] : lines_) {
      for (const std::size_t pc : line.pcs) {
        const bool is_load = launch_.program[pc].cls == InstructionClass::global_load &&
                             pc < launch_.accesses.size() && pc < launch_.loads.size();
        if (!is_load) continue;
        const AccessCounts& own = launch_.accesses[pc];
        const double hits = as_number(std::min(own.l1_hits, own.sectors));
        if (line.machine == 0) {
          fetched += as_number(own.sectors) - hits;
          ghosts_.add_times(launch_.loads[pc], 1);
        } else {
          found += hits;
          found_behind += hits * recent_share(launch_.loads[pc]);
        }
      }
    }
    ghosts_are_recent_ = 2 * found_behind > fetched;
    const double by_those = ghosts_are_recent_ ? found_behind : found;
    fetched_by_ghosts_ = by_those > 0 ? std::min(1.0, fetched / by_those) : 0;
  }

  static double recent_share(const LoadCounts& loads) {
    return loads.requests == 0 ? 0 : as_number(loads.of_recent) / as_number(loads.requests);
  }

  /// What a load's requests are without the ghosts: some that L1 had go on, as those of the ghosts.
  LoadCounts without_ghosts(LoadCounts loads) const {
    if (fetched_by_ghosts_ == 0 || ghosts_.beyond_l1 == 0) return loads;
    const double share = fetched_by_ghosts_ * (ghosts_are_recent_ ? recent_share(loads) : 1);
    const double more =
        share * as_number(loads.requests - std::min(loads.requests, loads.beyond_l1));
    const double each = more / as_number(ghosts_.beyond_l1);
    loads.beyond_l1 += whole(more);
    loads.at_l2 += whole(each * as_number(ghosts_.at_l2));
    loads.from_dram += whole(each * as_number(ghosts_.from_dram));
    loads.of_recent = whole((1 - share) * as_number(loads.of_recent));
    return loads;
  }

  bool has_groups(const sass::BasicBlock& block) const {
    return std::any_of(code_.code.instructions.begin() + block.first,
                       code_.code.instructions.begin() + block.last,
                       [](const sass::Instruction& one) { return one.name == "LDGDEPBAR"; });
  }

  void place_blocks() {
    for (const sass::BasicBlock& block : code_.blocks) {
      first_.push_back(size_);
      size_ += block.last - block.first;
    }
  }

  void add_block(std::size_t index) {
    const sass::BasicBlock& block = code_.blocks[index];
    for (std::uint32_t at = block.first; at < block.last; ++at) {
      add(code_.code.instructions[at], index);
    }
    if (block.first == block.last) return;
    InstructionInfo& first = work_.program[first_[index]];
    first.starts_block = true;
    for (const std::uint32_t next : block.leads_to) first.leads_to.push_back(first_[next]);
    if (block.may_end) first.leads_to.push_back(size_);
  }

  void add(const sass::Instruction& instruction, std::size_t block) {
    const sass::Alignment::BlockCount& count = alignment_.blocks[block];
    InstructionInfo info;
    info.cls = pipe_class(instruction);
    info.access_bytes = instruction.access_bytes;
    info.only_stores = instruction.name == "ST";
    info.ptx_line = instruction.ptx_line;
    IssueControl control = instruction.control;
    follow_copies(instruction, info, control);
    AccessCounts accesses;
    LoadCounts loads;
    if (const Line* const line = line_of(instruction)) {
      pc_ = static_cast<std::uint32_t>(line->pcs.front());
      if (const InstructionInfo* const from = origin(instruction, *line)) {
        take_origin(*from, *line, info);
        accesses = accesses_of_copy(instruction, *line, count.warps);
        for (const std::size_t pc : line->pcs) {
          if (pc < launch_.loads.size()) loads.add_times(launch_.loads[pc], 1);
        }
        if (info.cls == InstructionClass::global_load) loads = without_ghosts(loads);
      }
    }
    work_.program.push_back(std::move(info));
    work_.executed.push_back({whole(count.warps), whole(count.threads)});
    work_.control.push_back(control);
    work_.ptx_of.push_back(pc_);
    work_.accesses.push_back(accesses);
    work_.loads.push_back(loads);
  }

  void follow_copies(const sass::Instruction& instruction, InstructionInfo& info,
                     IssueControl& control) const {
    if (instruction.name == "LDGSTS") info.async_step = AsyncStep::copy;
    if (instruction.name == "LDGDEPBAR") info.async_step = AsyncStep::commit;
    if (!instruction.awaited) return;
    if (uses_groups_) {
      info.async_step = AsyncStep::wait;
      info.groups_under_way = instruction.awaited->left;
    } else if (instruction.awaited->left == 0) {
      control.wait_mask |= 1U << instruction.awaited->scoreboard;
    }
  }

  static void take_origin(const InstructionInfo& from, const Line& line, InstructionInfo& info) {
    info.flop_type = from.flop_type;
    info.fences = from.fences;
    info.only_stores = info.only_stores || from.only_stores;
    if (from.cls == InstructionClass::generic_access) info.cls = from.cls;
    if (from.cls != InstructionClass::tensor || line.machine == 0) return;
    info.flops_per_warp =
        static_cast<std::uint32_t>(std::llround(from.flops_per_warp * line.warps / line.machine));
  }

  /// A copy that is executed for some warps alone asks for no more than all copies together do.
  AccessCounts accesses_of_copy(const sass::Instruction& instruction, const Line& line,
                                double warps) const {
    if (instruction.cls == InstructionClass::tensor || line.warps == 0) return {};
    const double times = warps * std::min(1.0, line.warps / std::max(line.machine, 1.0));
    Request request = request_of(instruction, line);
    if (instruction.cls == InstructionClass::shared_atomic && line.adds_first) {
      request.wavefronts = request.bank_requests;
      request.conflicts = 0;
    }
    return {.requests = whole(times * request.requests),
            .sectors = whole(times * request.sectors),
            .lines = whole(times * request.lines),
            .bytes = whole(times * request.bytes),
            .l1_hits = whole(times * std::max(0.0, request.sectors - request.misses)),
            .bank_requests = whole(times * request.bank_requests),
            .wavefronts = whole(times * request.wavefronts),
            .conflicts = whole(times * request.conflicts)};
  }

  /// The mean request of the PTX, or where ptxas made one of several, that one.
  Request request_of(const sass::Instruction& instruction, const Line& line) const {
    AccessCounts sum;
    unsigned bytes = 0;
    const FirstAccess* first = nullptr;
    for (const std::size_t pc : line.pcs) {
      if (pc < launch_.accesses.size()) sum += launch_.accesses[pc];
      bytes = std::max(bytes, launch_.program[pc].access_bytes);
      if (first == nullptr && pc < launch_.first_accesses.size()) {
        first = launch_.first_accesses[pc].get();
      }
    }
    const auto each = [&](std::uint64_t count) { return as_number(count) / line.warps; };
    Request request{.requests = each(sum.requests),
                    .sectors = each(sum.sectors),
                    .lines = each(sum.lines),
                    .bytes = each(sum.bytes),
                    .misses = each(sum.sectors - std::min(sum.sectors, sum.l1_hits)),
                    .bank_requests = each(sum.bank_requests),
                    .wavefronts = each(sum.wavefronts),
                    .conflicts = each(sum.conflicts)};
    if (instruction.access_bytes > bytes && first != nullptr) widen(*first, instruction, request);
    return request;
  }

  /// To what the first access asks for when it is that wide, but to no less than the mean request
  /// of the PTX: each of those is a part of one, and other accesses need not be like the first.
  static void widen(const FirstAccess& first, const sass::Instruction& instruction,
                    Request& request) {
    std::array<std::uint64_t, kWarpSize> address = first.address;
    for (std::uint64_t& one : address) one -= one % instruction.access_bytes;
    const WarpAccess access{.kind = AccessKind::load,
                            .bytes = static_cast<std::uint8_t>(instruction.access_bytes),
                            .mask = first.mask,
                            .address = &address};
    if (first.is_shared) {
      const SharedWavefronts banks = shared_wavefronts(access);
      request.wavefronts = std::max(request.wavefronts, banks.wavefronts * request.bank_requests);
      request.conflicts = std::max(0.0, request.wavefronts - banks.ideal * request.bank_requests);
      return;
    }
    const RequestSectors sectors = coalesce(access);
    const double wider = std::max(1.0, as_number(sectors.count) / std::max(request.sectors, 1e-9));
    request.bytes *= instruction.access_bytes / std::max(1.0, as_number(first.bytes));
    request.sectors *= wider;
    request.lines = std::max(request.lines, request.sectors / 4);
  }

  void change_counters(InstructionClass cls, const AccessCounts& accesses, bool adds) {
    const auto change = [adds](std::uint64_t& counter, std::uint64_t by) {
      counter = adds ? counter + by : counter - std::min(counter, by);
    };
    KernelCounters& c = work_.counters;
    switch (cls) {
      case InstructionClass::shared_load:
        change(c.shared_load_requests, accesses.bank_requests);
        change(c.shared_load_wavefronts, accesses.wavefronts);
        change(c.shared_load_bank_conflicts, accesses.conflicts);
        return;
      case InstructionClass::shared_store:
        change(c.shared_store_requests, accesses.bank_requests);
        change(c.shared_store_wavefronts, accesses.wavefronts);
        change(c.shared_store_bank_conflicts, accesses.conflicts);
        return;
      case InstructionClass::shared_atomic:
        change(c.shared_atomic_requests, accesses.bank_requests);
        change(c.shared_atomic_wavefronts, accesses.wavefronts);
        return;
      case InstructionClass::global_load:
        change(c.global_load_requests, accesses.requests);
        change(c.global_load_sectors, accesses.sectors);
        change(c.global_load_bytes, accesses.bytes);
        change(c.l1_hit_sectors, accesses.l1_hits);
        change(c.l1_tag_lookups, accesses.lines);
        return;
      case InstructionClass::global_store:
        change(c.global_store_requests, accesses.requests);
        change(c.global_store_sectors, accesses.sectors);
        change(c.l1_tag_lookups, accesses.lines);
        return;
      default:
        return;
    }
  }

  const sass::CutCode& code_;
  const sass::Alignment& alignment_;
  const PtxLaunch& launch_;
  std::unordered_map<std::uint32_t, Line> lines_;
  std::vector<std::uint32_t> first_;  ///< instruction of each block
  std::uint32_t size_ = 0;
  LoadCounts ghosts_;  ///< of all loads without machine code
  bool ghosts_are_recent_ = false;
  double fetched_by_ghosts_ = 0;  ///< share of the sectors that others find in L1
  std::uint32_t pc_ = 0;          ///< of the PTX, of the instruction that was added last
  bool uses_groups_ = false;
  MachineWork work_;
};

}  // namespace

MachineWork machine_work(const sass::CutCode& code, const sass::Alignment& alignment,
                         const PtxLaunch& launch) {
  return Translation(code, alignment, launch).run();
}

}  // namespace simgpu

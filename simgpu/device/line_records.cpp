#include "simgpu/device/line_records.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "simgpu/counters/bank_conflicts.h"
#include "simgpu/counters/request_sectors.h"
#include "simgpu/counters/traffic_log.h"
#include "simgpu/device/kernel_names.h"
#include "simgpu/exec/messages.h"
#include "simgpu/memory/device_memory.h"

namespace simgpu {
namespace {

/// A place in the source, and the calls that led there.
struct SourcePlace {
  std::string file;
  std::uint32_t line = 0;
  std::vector<InlinedCall> inlined_at;
};

SourcePlace place_of(const KernelInfo& kernel, std::uint32_t index) {
  AccessSite site = site_of(kernel, index);
  SourcePlace place{std::move(site.file), site.line, std::move(site.inlined_at)};
  for (InlinedCall& call : place.inlined_at) call.function = kernel_display_name(call.function);
  return place;
}

/// The lines of a text, by their numbers from 1.
class TextLines {
 public:
  explicit TextLines(std::string_view text) {
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      lines_.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  std::string line(std::uint32_t number) const {
    if (number == 0 || number > lines_.size()) return {};
    std::string_view text = lines_[number - 1];
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    text.remove_prefix(first);
    std::string kept(text.substr(0, LineTable::kMostText));
    std::ranges::replace(kept, '\t', ' ');
    return kept;
  }

 private:
  std::vector<std::string_view> lines_;
};

/// Accesses that nvcc gives the line of their loop, because the next turn of it needs what they
/// load. Their addresses are computed where they are written.
class MovedAccesses {
 public:
  explicit MovedAccesses(const KernelInfo& kernel) : kernel_(kernel) {
    const std::vector<InstructionInfo>& program = kernel.instructions;
    std::uint32_t first = 0;  // of the basic block
    for (std::uint32_t i = 0; i < program.size(); ++i) {
      if (program[i].starts_block) first = i;
      const bool is_last = i + 1 == program.size() || program[i + 1].starts_block;
      const bool goes_back = std::ranges::any_of(program[first].leads_to,
                                                 [&](std::uint32_t next) { return next <= first; });
      if (is_last && goes_back && program[i].line != 0) loops_.insert(line_of(program[i]));
    }
  }

  /// The instruction that an instruction's place is taken from: mostly its own.
  std::uint32_t place_of(std::uint32_t index) const {
    const std::vector<InstructionInfo>& program = kernel_.instructions;
    const InstructionInfo& access = program[index];
    const std::uint32_t address = access.operands.front();
    if (access.access_bytes == 0 || address == InstructionInfo::kNoRegister) return index;
    if (!loops_.contains(line_of(access))) return index;
    for (std::uint32_t i = index; !program[i].starts_block && i > 0;) {
      const InstructionInfo& before = program[--i];
      if (std::ranges::find(before.writes, address) == before.writes.end()) continue;
      const bool computes = only_computes(before.cls) && before.line != 0;
      return computes && line_of(before) != line_of(access) ? i : index;
    }
    return index;
  }

 private:
  using Line = std::pair<std::uint32_t, std::uint32_t>;  // file and number
  static Line line_of(const InstructionInfo& info) { return {info.file, info.line}; }

  const KernelInfo& kernel_;
  std::set<Line> loops_;
};

AccessPicture picture_of(const FirstAccess& access) {
  AccessPicture picture{.is_shared = access.is_shared,
                        .bytes = access.bytes,
                        .mask = access.mask,
                        .block = access.block,
                        .warp = access.warp,
                        .offsets = {access.address.begin(), access.address.end()}};
  std::uint64_t lowest = ~std::uint64_t{0};
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    if ((access.mask >> lane & 1U) != 0) lowest = std::min(lowest, access.address[lane]);
  }
  const std::uint64_t base = access.is_shared ? 0 : lowest / kLineBytes * kLineBytes;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    picture.offsets[lane] = (access.mask >> lane & 1U) != 0 ? access.address[lane] - base : 0;
  }
  const WarpAccess as_load{.kind = AccessKind::load,
                           .bytes = static_cast<std::uint8_t>(access.bytes),
                           .mask = access.mask,
                           .address = &access.address};
  if (access.is_shared) {
    const SharedWavefronts count = shared_wavefronts(as_load);
    picture.transactions = count.wavefronts;
    picture.fewest = count.ideal;
    return picture;
  }
  const RequestSectors request = coalesce(as_load);
  picture.transactions = static_cast<std::uint32_t>(request.count);
  // Bytes that several lanes ask for come once.
  std::uint32_t distinct = 0;
  for (std::size_t i = 0; i < request.count; ++i) {
    distinct += static_cast<std::uint32_t>(std::popcount(request.sectors[i].bytes));
  }
  picture.fewest = static_cast<std::uint32_t>((distinct + kSectorBytes - 1) / kSectorBytes);
  return picture;
}

/// A line while its instructions are put together.
struct Growing {
  LineRecord record;
  LimiterTimes by_limiter;
};

/// Puts the instructions of a launch together by their lines.
class RecordsOfLines {
 public:
  explicit RecordsOfLines(const LaunchOfLines& launch) : launch_(launch), ptx_(launch.ptx) {}

  void add(std::size_t index, const SourcePlace& place, const InstructionTime& time,
           const LineCounters& counters) {
    Growing& line = lines_[{place.file, place.line}];
    line.record.file = place.file;
    line.record.line = place.line;
    line.record.time_us += time.time_us;
    line.record.counters += counters;
    line.by_limiter[time.limiter] += time.time_us;
    if (!place.inlined_at.empty()) add_call(line.record, place.inlined_at, time.time_us);
    add_instruction(index, line.record, time, counters);
  }

  /// Most time first; what is beyond the limits of a table is dropped.
  std::vector<LineRecord> take() {
    std::vector<LineRecord> records;
    for (auto& [place, line] : lines_) {
      if (!line.by_limiter.empty()) {
        line.record.limiter = std::ranges::max_element(line.by_limiter, {}, [](const auto& one) {
                                return one.second;
                              })->first;
      }
      std::ranges::stable_sort(line.record.calls, std::greater{}, &CallRecord::time_us);
      if (line.record.calls.size() > LineTable::kMostCalls)
        line.record.calls.resize(LineTable::kMostCalls);
      records.push_back(std::move(line.record));
    }
    std::ranges::stable_sort(records, std::greater{}, &LineRecord::time_us);
    if (records.size() > LineTable::kMostLines) records.resize(LineTable::kMostLines);
    bound(records);
    return records;
  }

 private:
  static void add_call(LineRecord& record, const std::vector<InlinedCall>& calls, double time_us) {
    const auto found = std::ranges::find(record.calls, calls, &CallRecord::inlined_at);
    if (found != record.calls.end()) {
      found->time_us += time_us;
    } else {
      record.calls.push_back({calls, time_us});
    }
  }

  void add_instruction(std::size_t index, LineRecord& record, const InstructionTime& time,
                       const LineCounters& counters) {
    const InstructionInfo& info = launch_.kernel.instructions[index];
    const bool is_known = index < launch_.first_accesses.size() && launch_.first_accesses[index];
    InstructionRecord one{.ptx_line = info.ptx_line,
                          .text = ptx_.line(info.ptx_line),
                          .time_us = time.time_us,
                          .limiter = time.limiter,
                          .counters = counters,
                          .picture = {}};
    if (is_known) one.picture = picture_of(*launch_.first_accesses[index]);
    record.instructions.push_back(std::move(one));
  }

  /// Keeps as many instructions as a table may have, and pictures of those that take longest.
  static void bound(std::vector<LineRecord>& records) {
    std::size_t left = LineTable::kMostInstructions;
    std::vector<InstructionRecord*> with_pictures;
    for (LineRecord& record : records) {
      if (record.instructions.size() > left) record.instructions.resize(left);
      left -= record.instructions.size();
      for (InstructionRecord& one : record.instructions) {
        if (one.picture) with_pictures.push_back(&one);
      }
    }
    std::ranges::stable_sort(with_pictures, std::greater{}, &InstructionRecord::time_us);
    for (std::size_t i = LineTable::kMostPictures; i < with_pictures.size(); ++i) {
      with_pictures[i]->picture.reset();
    }
  }

  const LaunchOfLines& launch_;
  const TextLines ptx_;
  std::map<std::pair<std::string, std::uint32_t>, Growing> lines_;
};

}  // namespace

std::vector<LineRecord> line_records(const LaunchOfLines& launch) {
  const std::vector<InstructionInfo>& program = launch.kernel.instructions;
  const bool has_places =
      std::ranges::any_of(program, [](const InstructionInfo& info) { return info.line != 0; });
  if (!has_places) return {};
  RecordsOfLines lines(launch);
  const MovedAccesses moved(launch.kernel);
  SourcePlace place;  // of the instruction before
  for (std::size_t i = 0; i < std::min(program.size(), launch.costs.size()); ++i) {
    const auto index = static_cast<std::uint32_t>(i);
    if (program[i].line != 0) place = place_of(launch.kernel, moved.place_of(index));
    const InstructionCost& cost = launch.costs[i];
    if (!cost.is_nothing()) lines.add(i, place, cost.time, cost.counters);
  }
  return lines.take();
}

}  // namespace simgpu

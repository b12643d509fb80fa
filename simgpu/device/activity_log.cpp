#include "simgpu/device/activity_log.h"

#include <algorithm>
#include <utility>

#include "simgpu/warp_pairs.h"

namespace simgpu {

namespace {

/// Names of files, functions and variables are a guest's, and may be as long as its program.
void clip(std::string& text) {
  constexpr std::size_t kMostText = 8192;
  if (text.size() <= kMostText) return;
  text.resize(kMostText - 3);
  text += "...";
}

void clip(AccessSite& site) {
  clip(site.file);
  clip(site.action);
  if (site.called_from.size() > kMostHostFrames) site.called_from.resize(kMostHostFrames);
}

void clip(ArrayPlace& place) {
  clip(place.name);
  clip(place.words);
}

bool stores_for_host(const KernelRecord& record) {
  return record.time.terms.contains(Limiter::host_stores) ||
         record.time.terms.contains(Limiter::managed_stores);
}

void fold(KernelRecord& sum, const KernelRecord& record) {
  add_scaled(sum.counters, record.counters, 1);
  sum.time.total_us += record.time.total_us;
  for (const auto& [term, us] : record.time.terms) sum.time.terms[term] += us;
  sum.failed = sum.failed || record.failed;
  sum.sampled = sum.sampled || record.sampled;
  sum.at_least = sum.at_least || record.at_least;
}

/// Of a list that is full, the record that stands for all further ones of a kind.
MemoryRecord& further(std::vector<MemoryRecord>& records, const MemoryRecord& record) {
  const auto begin = records.begin() + static_cast<std::ptrdiff_t>(kMostRecords);
  const auto found = std::find_if(begin, records.end(), [&](const MemoryRecord& other) {
    return other.operation == record.operation;
  });
  if (found != records.end()) return *found;
  MemoryRecord& sum = records.emplace_back(record);
  sum.bytes = 0;
  sum.time_us = 0;
  return sum;
}

}  // namespace

void ActivityLog::clear() {
  activity_ = {};
  has_left_ = false;
}

AccessSite ActivityLog::host_site(std::string action) const {
  AccessSite site;
  site.action = std::move(action);
  site.by_thread = false;
  site.called_from = caller_;
  return site;
}

void ActivityLog::begin_call(std::string name, double start_us) {
  call_ = {.sequence = next_sequence(),
           .name = std::move(name),
           .start_us = start_us,
           .time_us = 0,
           .correlation = ++calls_};
}

void ActivityLog::end_call(double end_us, CudaError error) {
  ApiRecord call = std::exchange(call_, {});
  call.time_us = end_us - call.start_us;
  call.error = static_cast<int>(error);
  const bool has_failed = error != CudaError::success && error != CudaError::not_ready;
  if (has_failed && !activity_.failed_call) {
    activity_.failed_call =
        FailedCall{.function = call.name, .error = name_of(error), .where = host_site()};
  }
  if (watcher_ != nullptr) watcher_->see(call);
  // CUPTI tells `<<<>>>` from a call of cudaLaunchKernel; to who reads a trace both are a launch.
  if (call.name.starts_with("__")) call.name.erase(0, 2);
  if (activity_.calls.size() < kMostRecords) {
    activity_.calls.push_back(std::move(call));
  } else {
    ++activity_.calls_left_out;
  }
}

void ActivityLog::add(KernelRecord record) {
  stamp(record);
  if (watcher_ != nullptr) watcher_->see(record, call_);
  has_left_ = has_left_ || stores_for_host(record);
  if (activity_.kernels.size() > kMostRecords) {
    fold(activity_.kernels.back(), record);
    return;
  }
  if (activity_.kernels.size() == kMostRecords) {
    record.name = kFurtherKernels;
    record.line_table = 0;
  }
  activity_.kernels.push_back(std::move(record));
}

std::uint32_t ActivityLog::table_like(const KernelRecord& record) const {
  const auto same = [&](const LineTable& table) {
    return table.time_us == record.time.total_us && table.kernel == record.name &&
           table.grid == record.grid && table.block == record.block;
  };
  const auto found = std::ranges::find_if(activity_.line_tables, same);
  if (found == activity_.line_tables.end()) return 0;
  return static_cast<std::uint32_t>(found - activity_.line_tables.begin()) + 1;
}

std::uint32_t ActivityLog::add(LineTable table) {
  for (LineRecord& line : table.lines) {
    clip(line.file);
    for (CallRecord& call : line.calls) {
      for (InlinedCall& each : call.inlined_at) {
        clip(each.file);
        clip(each.function);
      }
    }
  }
  activity_.line_tables.push_back(std::move(table));
  return static_cast<std::uint32_t>(activity_.line_tables.size());
}

void ActivityLog::add(MemoryRecord record) {
  stamp(record);
  if (watcher_ != nullptr) watcher_->see(record, call_);
  has_left_ = has_left_ || record.operation == MemoryOperation::copy_to_host;
  if (activity_.memory.size() < kMostRecords) {
    activity_.memory.push_back(record);
    return;
  }
  MemoryRecord& sum = further(activity_.memory, record);
  sum.bytes += record.bytes;
  sum.time_us += record.time_us;
}

void ActivityLog::add(const AllocationRecord& record) {
  if (watcher_ != nullptr) watcher_->see(record, call_);
}

/// Each code has its own limit: a program that makes many harmless findings cannot crowd out a
/// race.
bool ActivityLog::has_room_for(const Finding& finding) const {
  const auto alike = [&](const Finding& other) {
    return other.code == finding.code && other.unless_returned == finding.unless_returned;
  };
  const auto count = std::ranges::count_if(activity_.findings, alike);
  return static_cast<std::size_t>(count) < kMostFindings;
}

void ActivityLog::add(Finding finding) {
  clip(finding.kernel);
  clip(finding.object);
  clip(finding.message);
  clip(finding.where);
  if (finding.other) clip(*finding.other);
  for (ArrayPlace& place : finding.places) clip(place);
  for (SourceNote& note : finding.also) clip(note.file);
  const auto same = [&finding](const Finding& other) {
    const bool same_place = other.where.file == finding.where.file &&
                            other.where.line == finding.where.line &&
                            other.where.column == finding.where.column;
    const bool in_source = finding.where.line != 0;
    return other.code == finding.code && other.kernel == finding.kernel && same_place &&
           other.unless_returned == finding.unless_returned &&
           (in_source || other.message == finding.message);
  };
  const auto known = std::find_if(activity_.findings.begin(), activity_.findings.end(), same);
  if (known != activity_.findings.end()) {
    const std::uint64_t occurrences = known->occurrences + finding.occurrences;
    if (is_within_warp(*known) && !is_within_warp(finding)) *known = std::move(finding);
    known->occurrences = occurrences;
  } else if (has_room_for(finding)) {
    activity_.findings.push_back(std::move(finding));
  }
}

void ActivityLog::add_printed(const std::string& text) {
  const std::size_t room = kMostPrinted - std::min(kMostPrinted, activity_.printed.size());
  activity_.printed.append(text, 0, std::min(room, text.size()));
  activity_.printed_bytes += text.size();
  has_left_ = has_left_ || !text.empty();
}

void ActivityLog::set_error(const std::string& name) {
  if (activity_.error.empty()) activity_.error = name;
}

}  // namespace simgpu

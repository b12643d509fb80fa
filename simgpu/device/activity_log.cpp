#include "simgpu/device/activity_log.h"

#include <algorithm>
#include <utility>

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
}

}  // namespace

void ActivityLog::clear() { activity_ = {}; }

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
  if (watcher_ != nullptr) watcher_->see(call);
  // CUPTI tells `<<<>>>` from a call of cudaLaunchKernel; to who reads a trace both are a launch.
  if (call.name.starts_with("__")) call.name.erase(0, 2);
  if (activity_.calls.size() < kMostRecords) activity_.calls.push_back(std::move(call));
}

void ActivityLog::add(KernelRecord record) {
  stamp(record);
  if (watcher_ != nullptr) watcher_->see(record, call_);
  if (activity_.kernels.size() < kMostRecords) activity_.kernels.push_back(std::move(record));
}

void ActivityLog::add(MemoryRecord record) {
  stamp(record);
  if (watcher_ != nullptr) watcher_->see(record, call_);
  if (activity_.memory.size() < kMostRecords) activity_.memory.push_back(std::move(record));
}

void ActivityLog::add(const AllocationRecord& record) {
  if (watcher_ != nullptr) watcher_->see(record, call_);
}

void ActivityLog::add(Finding finding) {
  clip(finding.kernel);
  clip(finding.object);
  clip(finding.message);
  clip(finding.where);
  if (finding.other) clip(*finding.other);
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
    known->occurrences += finding.occurrences;
  } else if (activity_.findings.size() < kMostFindings) {
    activity_.findings.push_back(std::move(finding));
  }
}

void ActivityLog::add_printed(const std::string& text) {
  const std::size_t room = kMostPrinted - std::min(kMostPrinted, activity_.printed.size());
  activity_.printed.append(text, 0, std::min(room, text.size()));
  activity_.printed_bytes += text.size();
}

void ActivityLog::set_error(const std::string& name) {
  if (activity_.error.empty()) activity_.error = name;
}

}  // namespace simgpu

#include "simgpu/device/activity_log.h"

#include <algorithm>
#include <utility>

namespace simgpu {

void ActivityLog::clear() { activity_ = {}; }

void ActivityLog::add(KernelRecord record) {
  if (activity_.kernels.size() < kMostRecords) activity_.kernels.push_back(std::move(record));
}

void ActivityLog::add(MemoryRecord record) {
  if (activity_.memory.size() < kMostRecords) activity_.memory.push_back(std::move(record));
}

void ActivityLog::add(Finding finding) {
  const auto same = [&finding](const Finding& other) {
    const bool same_place = other.where.file == finding.where.file &&
                            other.where.line == finding.where.line &&
                            other.where.column == finding.where.column;
    const bool in_source = finding.where.line != 0;
    return other.code == finding.code && other.kernel == finding.kernel && same_place &&
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
}

void ActivityLog::set_error(const std::string& name) {
  if (activity_.error.empty()) activity_.error = name;
}

}  // namespace simgpu

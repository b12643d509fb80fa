#pragma once

#include <cstdint>
#include <string>

#include "simgpu/report.h"

namespace simgpu {

/// What happened since the last mark, for the trusted side. Bounded: a guest that launches for ever
/// fills neither memory nor the connection.
class ActivityLog {
 public:
  static constexpr std::size_t kMostRecords = 20'000;
  static constexpr std::size_t kMostFindings = 500;
  static constexpr std::size_t kMostPrinted = 1u << 20;

  void clear();
  void add(KernelRecord record);
  void add(MemoryRecord record);
  /// Findings of one code at one place in one kernel are counted together.
  void add(Finding finding);
  void add_printed(const std::string& text);
  void count_call(const std::string& function) { ++activity_.api_calls[function]; }
  /// The first error of a kind that does not go away.
  void set_error(const std::string& name);

  std::uint64_t next_sequence() { return sequence_++; }
  const Activity& activity() const { return activity_; }

 private:
  Activity activity_;
  std::uint64_t sequence_ = 0;
};

}  // namespace simgpu

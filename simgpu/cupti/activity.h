#pragma once

#include <cupti.h>

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "simgpu/cupti/records.h"

namespace simgpu::cupti {

/// The Activity API of one process: which kinds are wanted, what the device told, and where it
/// goes. It holds nothing but what the device tells this guest of itself.
class Activity {
 public:
  static Activity& instance();

  CUptiResult enable(CUpti_ActivityKind kind);
  CUptiResult disable(CUpti_ActivityKind kind);
  CUptiResult set_callbacks(CUpti_BuffersCallbackRequestFunc requested,
                            CUpti_BuffersCallbackCompleteFunc completed);
  /// Hands every record over. Buffers are asked for and given back on the calling thread.
  CUptiResult flush();
  std::size_t take_dropped();

  CUptiResult push_external(CUpti_ExternalCorrelationKind kind, std::uint64_t id);
  CUptiResult pop_external(CUpti_ExternalCorrelationKind kind, std::uint64_t* last);

  /// Counted work of a delivered kernel. @returns whether it is known
  bool counters(std::uint32_t correlation, std::int64_t grid, double* flops, double* bytes);

 private:
  struct Counters {
    double flops = 0, dram_bytes = 0;
  };

  bool is_enabled(CUpti_ActivityKind kind) const { return enabled_.contains(kind); }
  /// Which of the two kinds of kernel records is enabled; CUPTI has one at a time.
  std::optional<CUpti_ActivityKind> kernel_kind() const;
  /// Fetches what the device has, as records of the kinds that are enabled now.
  void drain();
  void convert(const protocol::ActivityEntry& entry, const std::string& name);
  void convert_call(const protocol::ActivityEntry& entry, const std::string& name);
  bool deliver_one_buffer();

  std::mutex mutex_;
  std::set<CUpti_ActivityKind> enabled_;
  CUpti_BuffersCallbackRequestFunc requested_ = nullptr;
  CUpti_BuffersCallbackCompleteFunc completed_ = nullptr;
  std::deque<RecordBytes> pending_;
  std::size_t dropped_ = 0;
  Names names_;
  std::array<std::vector<std::uint64_t>, CUPTI_EXTERNAL_CORRELATION_KIND_SIZE> external_;
  std::map<std::pair<std::uint32_t, std::int64_t>, Counters> counters_;
};

}  // namespace simgpu::cupti

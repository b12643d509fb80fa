#pragma once

#include <cstdint>
#include <map>
#include <mutex>

/// What a program has said of pages of managed memory. It changes nothing here; the program may ask
/// for it again.
namespace simgpu::runtime {

/// Of a page. Places as CUDA numbers them: 0 the device, cudaCpuDeviceId, cudaInvalidDeviceId.
struct PageAdvice {
  static constexpr int kNowhere = -2;  // cudaInvalidDeviceId

  bool read_mostly = false;
  bool accessed_by_device = false;
  int preferred = kNowhere;
  int prefetched = kNowhere;

  bool operator==(const PageAdvice&) const = default;
};

class ManagedAdvice {
 public:
  /// Changes the advice of all pages that hold some of the range.
  template <typename Change>
  void change(std::uint64_t address, std::uint64_t bytes, Change change) {
    const std::lock_guard lock(mutex_);
    const auto first = split(address / kPage), last = split((address + bytes - 1) / kPage + 1);
    for (auto run = first; run != last; ++run) change(run->second);
  }

  /// What one member says of all pages of the range; `otherwise` where they do not agree.
  template <typename Value>
  Value common(std::uint64_t address, std::uint64_t bytes, Value PageAdvice::*member,
               Value otherwise) {
    const std::lock_guard lock(mutex_);
    const auto first = split(address / kPage), last = split((address + bytes - 1) / kPage + 1);
    for (auto run = first; run != last; ++run) {
      if (run->second.*member != first->second.*member) return otherwise;
    }
    return first->second.*member;
  }

  /// After memory was freed.
  void forget(std::uint64_t address, std::uint64_t bytes) {
    change(address, bytes, [](PageAdvice& advice) { advice = {}; });
  }
  void clear();

 private:
  static constexpr std::uint64_t kPage = 4096;
  /// Runs of pages with the same advice, by the page where they begin.
  using Runs = std::map<std::uint64_t, PageAdvice>;

  /// Makes a run begin at the page. Neighbours that have become equal stay apart: there are few.
  Runs::iterator split(std::uint64_t page);

  std::mutex mutex_;
  Runs runs_{{0, {}}};
};

}  // namespace simgpu::runtime

#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "cupti_library.h"
#include "profile.h"

namespace rooflab {

/// Collects CUPTI's records between start() and stop(). One at a time in a process, for so it is
/// with CUPTI.
class Recorder {
 public:
  /// @throws std::runtime_error without CUPTI; std::logic_error while another one lives
  Recorder();
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// The one that lives in this process, null for none.
  static Recorder* current();

  void start();
  /// Waits for the device and forgets everything recorded so far.
  void forget();
  /// Waits for the device and takes the last records.
  void stop();

  // A named part of the program, by the thread that runs it; from any thread. An end belongs to the
  // begin with its number.
  std::uint64_t begin_range(std::string_view name, double flops, double bytes);
  void end_range(std::uint64_t number);

  /// Everything between start() and stop(). @pre stop() was called
  Profile take() const;

 private:
  /// An event whose times are still CUPTI's nanoseconds.
  struct Recorded {
    ProfiledEvent event;
    std::uint64_t start_ns = 0, end_ns = 0;
    std::int64_t grid_id = 0;               ///< of a kernel
    std::uint64_t static_shared_bytes = 0;  ///< of a kernel
    bool by_driver = false;                 ///< of a call
    std::uint64_t range = 0;                ///< number of the range around a range, 0 for none
    std::uint64_t number = 0;               ///< of a range
  };

  static void request_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records);
  static void take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                          std::size_t size, std::size_t valid);

  void synchronise();
  void read(CUpti_Activity* record);
  void add_call(const CUpti_ActivityAPI& call);
  std::uint64_t now() const;
  std::vector<Recorded> complete_events() const;
  void fill_in(ProfiledEvent& event, const Recorded& from, const ProfiledDevice& device) const;

  CuptiLibrary cupti_;
  bool recording_ = false;
  mutable std::mutex mutex_;  // records may come on a thread of CUPTI's
  std::vector<Recorded> events_;
  std::vector<Recorded> open_ranges_;
  std::map<std::uint32_t, std::uint64_t> range_of_call_;  ///< by correlation
  std::map<std::uint32_t, std::int64_t> memory_of_call_;  ///< by correlation, bytes
  std::uint64_t ranges_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace rooflab

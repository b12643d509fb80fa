#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "grader/device/cuda/clock_watch.h"
#include "grader/device/device.h"

namespace rooflab {

/// Asks NVML which other processes use the GPU: neither this one, nor what it started, nor other
/// processes of the same program, which the GPU's lock keeps away.
class GpuUsers {
 public:
  /// @param nvml has to outlive this; where it does not work, nobody is seen
  explicit GpuUsers(const ClockWatch& nvml);

  struct Seen {
    /// Whether others would have been seen, wherever they are. Not where we are in a namespace of
    /// processes of our own, from which those outside are hidden.
    bool all = false;
    std::vector<GpuUser> others;
  };
  Seen look();

  /// Whether any other process has computed on the GPU since the last such question, as far as NVML
  /// says, which is late by up to a second. The first question only begins, and nothing is known
  /// where look() did not find us ourselves.
  bool others_computed();

 private:
  using Device = ClockWatch::Device;
  /// nvmlProcessInfo_v1_t and nvmlProcessInfo_v2_t, whose first members are the same.
  struct Process {
    std::uint32_t pid = 0;
    std::uint64_t memory_bytes = 0;
  };
  /// nvmlProcessUtilizationSample_t
  struct Utilization {
    unsigned pid = 0;
    unsigned long long time_us = 0;
    unsigned sm = 0;
    unsigned memory = 0;
    unsigned encoder = 0;
    unsigned decoder = 0;
  };
  using ListProcesses = int (*)(Device, unsigned*, void*);

  std::vector<Process> processes_of(ListProcesses list) const;
  std::vector<Utilization> utilization_since(unsigned long long time_us) const;
  std::string name_of(std::uint32_t pid) const;

  Device device_;
  ListProcesses list_compute_ = nullptr;
  ListProcesses list_graphics_ = nullptr;
  bool has_instances_ = false;  ///< entries are nvmlProcessInfo_v2_t
  int (*process_name_)(unsigned, char*, unsigned) = nullptr;
  int (*utilization_)(Device, Utilization*, unsigned*, unsigned long long) = nullptr;
  unsigned long long last_seen_us_ = 0;  ///< by NVML's clock
  bool has_begun_ = false;
  bool sees_us_ = false;
  std::map<std::uint32_t, std::uint64_t> others_;  ///< as look() last saw them: bytes by number
};

}  // namespace rooflab

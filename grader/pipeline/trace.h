#pragma once

#include <string>
#include <vector>

#include "labs/toolkit/profiler/profile.h"
#include "simgpu/report.h"
#include "specs/gpu_spec.h"

namespace rooflab {

/// Collects what the device did, run after run, as a Chrome trace (the JSON that chrome://tracing
/// and Perfetto open): for each run the host's calls and the device's streams, with an arrow from
/// each launch to what it started.
class TraceLog {
 public:
  explicit TraceLog(const gpu_spec::GpuSpec& gpu);

  void add(const std::string& run, const simgpu::Activity& activity);
  /// The document; valid UTF-8 whatever kernels are named.
  std::string to_json() const;

 private:
  ProfiledDevice device_;
  std::vector<Profile> runs_;
};

}  // namespace rooflab

#pragma once

#include <string>
#include <vector>

#include "simgpu/report.h"

namespace rooflab {

/// Collects what the device did, run after run, as a Chrome trace (the JSON that chrome://tracing
/// and Perfetto open): one process per run, one row each for kernels and for copies; times in
/// microseconds.
class TraceLog {
 public:
  void add(const std::string& run, const simgpu::Activity& activity);
  /// The document; valid UTF-8 whatever kernels are named.
  std::string to_json() const;

 private:
  struct Run {
    std::string name;
    simgpu::Activity activity;
  };
  std::vector<Run> runs_;
};

}  // namespace rooflab

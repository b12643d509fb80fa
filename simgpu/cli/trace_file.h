#pragma once

#include <string>

#include "simgpu/report.h"

namespace simgpu::cli {

/// The run as a Chrome trace (chrome://tracing, Perfetto) on the modelled clock: the host's calls,
/// the streams' kernels, copies and fills, and an arrow from each call to what it issued. Valid
/// UTF-8 whatever kernels are named.
/// @param multiprocessors of the GPU, for what a kernel has of each
std::string trace_json(const Activity& activity, const std::string& gpu, int multiprocessors);

}  // namespace simgpu::cli

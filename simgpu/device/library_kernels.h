#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "simgpu/device/activity_log.h"
#include "simgpu/device/cuda_error.h"
#include "simgpu/device/device_options.h"
#include "simgpu/device/fault.h"
#include "simgpu/device/host_traffic.h"
#include "simgpu/device/since_mark.h"
#include "simgpu/device/streams.h"
#include "simgpu/device/timeline.h"
#include "simgpu/model/library_product.h"
#include "specs/gpu_spec.h"

namespace simgpu {

/// A library routine that runs on the device without PTX (cuBLAS): what it is called, what it cost.
struct LibraryKernel {
  std::string name;
  double flops = 0;       ///< floating-point operations, a multiply-add as two
  std::string flop_type;  ///< key of GpuSpec::peak_flops, falls back to "fp32"
  std::optional<model::LibraryProduct> product = {};  ///< what it is, if it multiplies matrices
  double read_bytes = 0;                              ///< compulsory traffic
  double stored_bytes = 0;
  /// Tells where its operands lie; nothing of those with very many gaps.
  std::function<std::vector<StreamRaces::Range>()> touched = {};
  HostTraffic host = {};  ///< of operands in memory that the host shares
};

/// What the device makes of library routines, whose bytes somebody else computes: times and
/// records.
class LibraryKernels {
 public:
  LibraryKernels(const gpu_spec::GpuSpec& gpu, const DeviceOptions& options, Timeline& timeline,
                 ActivityLog& log, Fault& fault, SinceMark& since_mark, Streams& streams)
      : gpu_(gpu),
        options_(options),
        timeline_(timeline),
        log_(log),
        fault_(fault),
        since_mark_(since_mark),
        streams_(streams) {}

  /// Records and times a routine that has just been carried out.
  CudaError finish(const LibraryKernel& kernel, std::uint64_t stream);
  /// A routine cannot run: why, and the error that a GPU would end in.
  void fail(Finding why);

 private:
  const gpu_spec::GpuSpec& gpu_;
  const DeviceOptions& options_;
  Timeline& timeline_;
  ActivityLog& log_;
  Fault& fault_;
  SinceMark& since_mark_;
  Streams& streams_;
};

}  // namespace simgpu

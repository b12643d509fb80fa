#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "simgpu/report.h"

namespace rooflab {

/// An element of a tensor of a call: Problem::tensors, and counted from its first element.
struct ElementPlace {
  std::size_t tensor = 0;
  std::uint64_t element = 0;
  auto operator<=>(const ElementPlace&) const = default;
};

/// Loads of one source line whose values went into an element.
struct ElementRead {
  ElementPlace from;
  std::uint64_t times = 1;  ///< loads by different instructions, threads or iterations
  std::string file;         ///< of the load; empty: unknown
  unsigned line = 0;
  simgpu::Dim3 block, thread;  ///< of the first of these loads
};

/// What went into an element of an output, as a device saw it: through registers, shared and local
/// memory, exchanges between lanes, atomics and earlier kernels. Values alone count: what an index
/// or a condition was computed from is not among `reads`.
struct ElementOrigin {
  ElementPlace of;
  std::uint64_t stores = 0;  ///< to the element, in the whole call
  std::string file;          ///< of the last one; empty: unknown
  unsigned line = 0;
  simgpu::Dim3 block, thread;  ///< that stored last
  std::vector<ElementRead> reads;
  /// False where more went in than is kept, or something came in that nobody follows.
  bool complete = true;
};

}  // namespace rooflab

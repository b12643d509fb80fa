#pragma once

#include "simgpu/replay/recording.h"

namespace simgpu::replay {

/// The recordings of two launches as one, whose steps are those of the earlier one and then those
/// of the later one.
Recording joined(Recording earlier, Recording later);

}  // namespace simgpu::replay

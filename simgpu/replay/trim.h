#pragma once

#include <cstddef>

#include "simgpu/replay/recording.h"

namespace simgpu::replay {

/// Of a recording with marks: the steps that lead to them. Of a race these are, of both warps, the
/// last ones before their access, from the last barrier on that both have passed; of anything else
/// the last ones. Of a recording without marks: the first steps. What steps that are left out have
/// written is kept: Step::before, Step::others.
Recording trimmed(Recording recording, std::size_t most_steps);

}  // namespace simgpu::replay

#pragma once

#include <cstdint>
#include <vector>

#include "simgpu/isa/lowered.h"
#include "simgpu/lower/control_flow.h"
#include "simgpu/lower/pending.h"
#include "simgpu/lower/register_allocation.h"

namespace simgpu {

/// What decides where a kernel's threads go, and at which addresses they touch memory. From the
/// operands of branches, guards, addresses and whatever else is no plain arithmetic it follows back
/// what these are computed from. A sum that is only stored is no part of it.
ControlState find_control_state(const std::vector<Pending>& code, const Allocation32& registers,
                                const std::vector<SlotKind>& kinds);

}  // namespace simgpu

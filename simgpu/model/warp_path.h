#pragma once

#include "simgpu/model/work.h"

namespace simgpu::model {

/// Cycles that the mean warp needs for its way through the kernel if it never waits for other
/// warps. Within straight code, up to a barrier, instructions start as soon as their operands are
/// there, one per cycle: the assembler moves loads ahead of what uses them. What a stretch of code
/// leaves under way is waited for where it is used, in whichever stretch that is. A loop is
/// followed once as it is entered and once as it follows itself, which stands for all further
/// turns; what is executed less than once in a turn counts with that part of its time. While a warp
/// is suspended it does nothing.
double warp_cycles(const Work& work);

}  // namespace simgpu::model

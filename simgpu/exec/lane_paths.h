#pragma once

#include "simgpu/isa/lowered.h"

/// What lies ahead of lanes at an instruction, as far as it goes straight on.
namespace simgpu {

/// Whether they come to an end or a barrier before they change memory: nobody waits for them.
bool does_nothing(const LoweredKernel& kernel, std::uint32_t index);
/// Whether they exit before they change memory or meet anyone: they are on their way to `ret`.
bool only_exits(const LoweredKernel& kernel, std::uint32_t index);
/// Whether they exit after plain stores at most, and load nothing: a compiler makes one store of
/// those before an early `return` and at the end of the kernel, and what was a return is an `if`
/// then.
bool only_stores_and_exits(const LoweredKernel& kernel, std::uint32_t index);
/// The conditional branch on whose sides it depends whether lanes come to `place`: that of the
/// innermost condition or loop around it. kNowhere where there is none.
std::uint32_t branch_around(const LoweredKernel& kernel, std::uint32_t place);
/// The first instruction ahead by which others could see that they have come there.
std::uint32_t first_effect(const LoweredKernel& kernel, std::uint32_t index);

}  // namespace simgpu

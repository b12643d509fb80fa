#pragma once

#include "simgpu/isa/instruction_info.h"

/// Which loads have to wait until stores before them have started.
namespace simgpu::model {

/// Whether it loads from memory that somebody may store to.
bool may_load(const InstructionInfo& access);

/// Whether a store and a load behind it may be of the same place.
/// @param same_base both add what they add to the same value
bool may_meet(const InstructionInfo& store, const InstructionInfo& load, bool same_base);

}  // namespace simgpu::model

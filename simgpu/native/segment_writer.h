#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "simgpu/lower/lowered.h"
#include "simgpu/native/forms.h"
#include "simgpu/native/translator.h"

namespace simgpu::native {

/// The text of one segment's function, which is appended to `text`.
/// @param forms of all instructions of the kernel; those of the segment have one
void write_segment(const LoweredKernel& kernel, std::span<const std::optional<Form>> forms,
                   const SegmentSpan& segment, std::size_t number, std::string& text);

}  // namespace simgpu::native

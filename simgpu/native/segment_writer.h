#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "simgpu/lower/lowered.h"
#include "simgpu/native/forms.h"
#include "simgpu/native/translator.h"

namespace simgpu::native {

/// Appends the text of one segment's function to `text`, and returns what it does: `segment`, or as
/// much of its beginning as one function may hold.
/// @param forms of all instructions of the kernel; those of the segment have one
SegmentSpan write_segment(const LoweredKernel& kernel, std::span<const std::optional<Form>> forms,
                          const SegmentSpan& segment, std::size_t number, std::string& text);

}  // namespace simgpu::native

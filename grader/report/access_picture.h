#pragma once

#include <string>

#include "simgpu/line_record.h"

namespace rooflab {

/// Which sectors of global memory, or which banks of shared memory, the lanes of a warp touched, as
/// an SVG element: lanes above, memory below, a line from each lane to what it touched.
std::string access_svg(const simgpu::AccessPicture& picture);

/// The same in a sentence: "32 lanes touch 32 sectors of 32 bytes, where 4 would hold them".
std::string access_words(const simgpu::AccessPicture& picture);

}  // namespace rooflab

#pragma once

#include <cmath>

namespace simgpu {

/// binary128, in which tests compute what results are held against. glibc has its functions on
/// every architecture (sinf128 …); which type of the compiler it is, differs.
__extension__ using Quad = _Float128;

}  // namespace simgpu

#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "simgpu/report.h"

/// compute-sanitizer, NVIDIA's checkers for real GPUs, as the counterpart of the simulated GPU's.
namespace rooflab::sanitizer {

/// What is read of one tool's output at most; the rest is left out.
inline constexpr std::size_t kMostBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMostFindings = 64;
inline constexpr std::size_t kLongestName = 1024;  ///< of a kernel or a file

/// What one of the tools (memcheck, initcheck, racecheck, synccheck) printed, as findings with the
/// codes and words of the simulated GPU's (docs/design/findings.md): equal ones counted together,
/// in the order in which they came. Warp numbers are not in the text (simgpu::kUnknownWarp).
///
/// The text may be anything: the program under the tool shares its output, and names kernels and
/// files. What has another form than NVIDIA's manual shows is left out. Never throws, but for want
/// of memory.
std::vector<simgpu::Finding> findings_in(std::string_view text);

}  // namespace rooflab::sanitizer

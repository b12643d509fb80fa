#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "simgpu/replay/recording.h"
#include "simgpu/source/early_returns.h"

namespace simgpu::replay {

/// What a replay is of, in words. All of it may come from a guest.
struct PageWords {
  std::string title;                 ///< "gemm_tiled, case 2"; may be empty
  std::string code;                  ///< "RL0302", or empty
  std::string message;               ///< the finding, or what is shown instead
  std::vector<std::string> lines{};  ///< what else is to be said of it
};

inline constexpr std::size_t kMostPageBytes = std::size_t{2} << 20;

/// A page of its own that steps through a recording, forwards and back: one HTML file that loads
/// nothing, in which its own script alone may run. Of a recording that would make it longer than
/// kMostPageBytes it has fewer steps, and says so.
/// @param source texts by Recording::files; the lines about those of the steps are shown
std::string page_html(Recording recording, const PageWords& words, const SourceText& source);

}  // namespace simgpu::replay

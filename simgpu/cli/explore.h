#pragma once

#include <optional>
#include <vector>

#include "simgpu/finding.h"
#include "simgpu/replay/page.h"
#include "simgpu/replay/recording.h"

namespace simgpu::cli {

/// The first finding whose threads can be stepped through; nullptr where there is none.
const Finding* first_to_explore(const std::vector<Finding>& findings);

/// What a page is made of: of the finding, or without one of the first block of the first kernel.
replay::Wanted wanted_for(const Finding* finding);

/// What stands above the steps.
/// @param all that was found: where no finding has threads to step through, that is said
replay::PageWords words_for(const Finding* finding, const std::vector<Finding>& all);

}  // namespace simgpu::cli

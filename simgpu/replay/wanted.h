#pragma once

#include "simgpu/replay/recording.h"

namespace simgpu::replay {

/// Whether something of a finding can be stepped through: what its threads did at lines of the
/// source, or launches that race.
bool can_be_shown(const Finding& finding);

/// What is to be recorded of a finding that can be shown.
Wanted wanted_for(const Finding& finding);

/// What a page of launches that race has to say of what it shows; empty for other findings.
std::string words_on_launches(const Finding& finding);

}  // namespace simgpu::replay

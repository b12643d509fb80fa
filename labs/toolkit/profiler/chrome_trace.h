#pragma once

#include <string>
#include <vector>

#include "profile.h"

namespace rooflab {

/// A profile as a Chrome trace, the JSON that https://ui.perfetto.dev and chrome://tracing open
/// (Trace Event Format): a row for each host thread and each stream, and an arrow from each launch
/// to what it put on the device.
///
/// The text is valid JSON and valid UTF-8 whatever the names hold. Times and durations are
/// microseconds with three decimals. Where a stream's work overlaps (branches of a graph), its row
/// gets further lines, for viewers want the slices of a line nested or apart.
std::string chrome_trace(const Profile& profile);

/// Several runs in one document, each with a host and a device of its own.
std::string chrome_trace(const std::vector<Profile>& runs);

}  // namespace rooflab

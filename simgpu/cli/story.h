#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simgpu/report.h"

namespace simgpu::cli {

/// A finding told for a terminal: what is wrong, where, the source line itself when it can be read,
/// the other side of a race, how often, and last what helps. Control characters of untrusted text
/// are shown as dots.
std::string tell(const Finding& finding);

/// The beginning of a regular file; nullopt when there is none.
std::optional<std::string> source_text(const std::string& file);

/// All stories, and a last line that counts them; empty when there are none.
std::string tell_all(const std::vector<Finding>& findings);

/// The three lines that take most of a launch's time, with what they say. Empty where none are
/// known.
std::string hottest_lines(const LineTable& table);

}  // namespace simgpu::cli

#pragma once

#include <string>

#include "simgpu/replay/page.h"

namespace simgpu::replay {

/// What the page's script reads, as JSON that is safe inside of a `<script>`: without `<`, `>`, `&`
/// and the line separators of JavaScript. Texts that are not UTF-8 are mended, long ones cut.
std::string page_data(const Recording& recording, const PageWords& words, const SourceText& source);

}  // namespace simgpu::replay

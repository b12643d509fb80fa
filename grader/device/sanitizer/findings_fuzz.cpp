// libFuzzer's entry to the reader of compute-sanitizer's output, which the program under it shares:
// any bytes give findings within the limits, each with a code and a sentence.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "grader/device/sanitizer/findings.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check_site(const simgpu::AccessSite& site) {
  require(site.file.size() <= rooflab::sanitizer::kLongestName);
  require(!site.file.empty() || site.line == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto findings = rooflab::sanitizer::findings_in(text);
  require(findings.size() <= rooflab::sanitizer::kMostFindings);
  for (const simgpu::Finding& finding : findings) {
    require(finding.code.starts_with("RL0") && !finding.message.empty());
    require(finding.kernel.size() <= rooflab::sanitizer::kLongestName);
    require(finding.occurrences > 0);
    check_site(finding.where);
    if (finding.other) check_site(*finding.other);
  }
  return 0;
}

#include "simgpu/replay/wanted.h"

#include "simgpu/notice.h"

namespace simgpu::replay {

bool can_be_shown(const Finding& finding) {
  if (is_notice(finding)) return false;
  if (finding.launches) return finding.launches->later != 0 || finding.launches->earlier != 0;
  return finding.where.by_thread && finding.where.line != 0 && !finding.where.file.empty();
}

Wanted wanted_for(const Finding& finding) {
  Wanted wanted{.kind = Wanted::Kind::finding, .where = finding.where, .other = finding.other};
  if (!finding.launches) return wanted;
  wanted.kind = Wanted::Kind::racing_launches;
  wanted.address = finding.launches->address;
  wanted.bytes = 1;
  wanted.later.launch = finding.launches->later;
  wanted.earlier.launch = finding.launches->earlier;
  return wanted;
}

std::string words_on_launches(const Finding& finding) {
  if (!finding.launches) return {};
  const bool both = finding.launches->later != 0 && finding.launches->earlier != 0;
  return both
             ? "Shown are a warp of each of the two launches, up to its access to the same byte."
             : "Shown is the warp of the launch that touches the byte. The other side is no kernel "
               "of the program, and has no steps.";
}

}  // namespace simgpu::replay

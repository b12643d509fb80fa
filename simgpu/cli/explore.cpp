#include "simgpu/cli/explore.h"

#include <algorithm>
#include <string>
#include <utility>

#include "simgpu/replay/wanted.h"

namespace simgpu::cli {
const Finding* first_to_explore(const std::vector<Finding>& findings) {
  const auto found = std::ranges::find_if(findings, replay::can_be_shown);
  return found == findings.end() ? nullptr : &*found;
}

replay::Wanted wanted_for(const Finding* finding) {
  return finding == nullptr ? replay::Wanted{} : replay::wanted_for(*finding);
}

replay::PageWords words_for(const Finding* finding, const std::vector<Finding>& all) {
  if (finding == nullptr) {
    replay::PageWords words;
    words.message = "Nothing was found. These are the first steps of the first warp.";
    if (all.empty()) return words;
    words.code = all.front().code.text();
    words.message = all.front().message;
    words.lines = {
        "No thread of a kernel can be shown for it: these are the first steps of the "
        "first warp."};
    return words;
  }
  replay::PageWords words{.title = {}, .code = finding->code.text(), .message = finding->message};
  if (!finding->object.empty()) words.lines.push_back(finding->object);
  if (std::string launches = replay::words_on_launches(*finding); !launches.empty()) {
    words.lines.push_back(std::move(launches));
  }
  return words;
}

}  // namespace simgpu::cli

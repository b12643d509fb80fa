#include "simgpu/cli/explore.h"

#include <algorithm>

namespace simgpu::cli {
namespace {

bool has_place(const Finding& finding) {
  return finding.where.by_thread && finding.where.line != 0 && !finding.where.file.empty();
}

}  // namespace

const Finding* first_to_explore(const std::vector<Finding>& findings) {
  const auto found = std::ranges::find_if(findings, has_place);
  return found == findings.end() ? nullptr : &*found;
}

replay::Wanted wanted_for(const Finding* finding) {
  replay::Wanted wanted;
  if (finding == nullptr) return wanted;
  wanted.kind = replay::Wanted::Kind::finding;
  wanted.where = finding->where;
  wanted.other = finding->other;
  return wanted;
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
  return words;
}

}  // namespace simgpu::cli

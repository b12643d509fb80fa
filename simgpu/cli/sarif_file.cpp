#include "simgpu/cli/sarif_file.h"

#include <fmt/format.h>

#include "simgpu/notice.h"
#include "simgpu/sarif/sarif.h"

namespace simgpu::cli {
namespace {

sarif::Place place_of(const AccessSite& site) {
  return {.file = site.file, .line = site.line, .column = site.column, .text = site.action};
}

sarif::Result result_of(const Finding& finding) {
  sarif::Result result{.code = finding.code,
                       .level = is_notice(finding) ? sarif::Level::warning : sarif::Level::error,
                       .message = finding.message};
  if (!finding.object.empty()) result.details.push_back("object: " + finding.object);
  if (finding.occurrences > 1) {
    result.details.push_back(fmt::format("note: this happened {} times", finding.occurrences));
  }
  // As in the terminal: what helps against a detail is another thing.
  if (finding.detail == FindingDetail::none && *finding.code.help() != '\0') {
    result.details.push_back(fmt::format("help: {}", finding.code.help()));
  }
  if (!finding.kernel.empty()) result.properties["kernel"] = finding.kernel;
  if (!finding.where.file.empty()) {
    result.places.push_back(place_of(finding.where));
    if (finding.other && !finding.other->file.empty()) {
      result.places.push_back(place_of(*finding.other));
    }
    for (const SourceNote& note : finding.also) {
      if (note.file.empty()) continue;
      result.places.push_back({.file = note.file, .line = note.line, .text = note.text});
    }
  }
  return result;
}

}  // namespace

std::string sarif_document(const std::vector<Finding>& findings) {
  sarif::Run run{.tool = "simgpu", .version = ROOFLAB_VERSION};
  for (const Finding& finding : findings) run.results.push_back(result_of(finding));
  return sarif::document_of(run, [](Code) { return sarif::Page{}; });
}

}  // namespace simgpu::cli

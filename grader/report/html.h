#pragma once

#include <string>

#include "grader/spec/result.h"
#include "specs/gpu_spec.h"

namespace rooflab {

/// Where a page that shows several grades puts one of them.
struct HtmlPlace {
  std::string id_prefix = {};  ///< of its anchors, which a page may have only once: "part1-"
  int heading_level = 2;       ///< of its sections; tasks stand one below, their details two
};

/// The report without its header, as part of a page: table of tasks, roofline, latency chart, and
/// the story of each task. Everything from the submission is escaped.
std::string to_html_body(const GradeResult& result, const gpu_spec::GpuSpec& gpu,
                         const HtmlPlace& place);

/// The report as one self-contained HTML file (no scripts, no external files): scores, stories,
/// roofline, latency chart, what limits each kernel. Everything from the submission is escaped.
/// @param next lines that say what to do next, as on a terminal; may be empty
std::string to_html(const GradeResult& result, const gpu_spec::GpuSpec& gpu,
                    const std::string& next = {});

}  // namespace rooflab

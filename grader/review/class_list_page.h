#pragma once

#include <optional>
#include <string>

#include "grader/review/class_view.h"

namespace rooflab {

/// The class at a glance: a row for each team.
struct ClassList {
  TeamChoice choice;
  std::optional<int> part;  ///< with its tasks; else all parts
  std::string batch = {};   ///< how far a batch is that runs now; empty for none
};

std::string class_list_page(const ReviewedClass& reviewed, const ClassList& list);

/// Labels of what stands out of a team; each leads to all teams of that kind.
std::string state_labels(const ReviewedClass& reviewed, const ReviewTeam& team);

/// "✓", "✗" or "○" with the verdict in words, so that colour alone says nothing.
std::string verdict_mark(Verdict verdict);

}  // namespace rooflab

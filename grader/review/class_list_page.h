#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grader/review/class_view.h"
#include "grader/review/web_values.h"

namespace rooflab {

/// The class at a glance: a row for each team.
struct ClassList {
  TeamChoice choice;
  std::optional<int> part;  ///< with its tasks; else all parts
  std::string batch = {};   ///< how far a batch is that runs now; empty for none
};

using AddressFields = std::vector<std::pair<std::string, std::string>>;

/// What leads back to a list: its search, filter and order.
AddressFields fields_of(const TeamChoice& choice);
/// The reverse.
TeamChoice team_choice_of(const ReviewFields& fields);
/// What leads to a submission's page, and from there back to the list; empty ones are left out.
/// @param candidate of several to choose from, the one to look at
AddressFields submission_fields(const std::string& team, const std::string& part,
                                const TeamChoice& choice, const std::string& candidate = {});

std::string class_list_page(const ReviewedClass& reviewed, const ClassList& list);

/// Labels of what stands out of a team; each leads to all teams of that kind.
std::string state_labels(const ReviewedClass& reviewed, const ReviewTeam& team);

/// "✓", "✗" or "○" with the verdict in words, so that colour alone says nothing.
std::string verdict_mark(Verdict verdict);

}  // namespace rooflab

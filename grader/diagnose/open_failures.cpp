#include "grader/diagnose/open_failures.h"

#include <fmt/format.h>

#include <algorithm>

namespace rooflab {
namespace {

/// Whether the submission chooses what the story says: where a kernel fails, or how a call ends.
bool is_chosen(const Diagnostic& story) {
  if (story.code == "RL0602") return false;
  const bool is_an_end = story.code >= "RL0601" && story.code <= "RL0615";
  return is_an_end || story.code.kind();
}

bool is_same_place(const Label& one, const Label& other) {
  return one.file == other.file && one.line == other.line;
}

bool is_same_failure(const Diagnostic& one, const Diagnostic& other) {
  return one.code == other.code && one.file == other.file && one.line == other.line &&
         std::ranges::equal(one.labels, other.labels, is_same_place);
}

}  // namespace

void OpenFailures::add(const std::vector<Diagnostic>& stories) {
  stories_.insert(stories_.end(), stories.begin(), stories.end());
}

Diagnostic OpenFailures::told_of_hidden(Diagnostic story) const {
  if (!is_chosen(story)) return story;
  const auto open = std::ranges::find_if(
      stories_, [&](const Diagnostic& other) { return is_same_failure(story, other); });
  if (open != stories_.end()) {
    Diagnostic shown = *open;
    shown.groups = story.groups;
    return shown;
  }
  const char* const place = story.line > 0 ? " at the same place" : "";
  story.file = file_;
  story.line = 0;
  story.labels.clear();
  story.context.clear();
  story.notes.push_back(
      fmt::format("a hidden case fails with {}, and no public case does{}, so where it fails is "
                  "not shown. Call the function with other sizes: no multiples of a block or a "
                  "tile, smaller than one, and long in one direction alone",
                  story.code.text(), place));
  return story;
}

}  // namespace rooflab

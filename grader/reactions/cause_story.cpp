#include "grader/reactions/cause_story.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "grader/diagnose/story.h"

namespace rooflab {
namespace {

constexpr std::string_view kSmallest = "the smallest problem that shows it has ";

}  // namespace

Diagnostic story_of_cause(const FoundCause& cause, const Values& of_case, const Diagnostic& before,
                          const DiagnoseContext& context) {
  if (cause.is_looks) {
    Diagnostic story = before;
    story.notes.insert(story.notes.end(), cause.evidence.begin(), cause.evidence.end());
    if (cause.parameters != of_case) add_smaller_problem(story, cause.parameters);
    return story;
  }
  Diagnostic story = begin_story(cause.code, context);
  story.message = cause.message;
  story.groups = before.groups;
  story.evidence = before.evidence;
  story.pattern = before.pattern;
  story.smaller = before.smaller;
  story.notes = cause.evidence;
  if (tells_more_than_wrong(before)) story.notes.insert(story.notes.begin(), before.message);
  if (cause.parameters != of_case) add_smaller_problem(story, cause.parameters);
  for (const std::string& note : before.notes) {
    const bool is_replaced = note.starts_with(kSmallest) && cause.parameters != of_case;
    if (!is_replaced) story.notes.push_back(note);
  }
  story.help = cause.help;
  if (cause.line != 0) {
    const Label label = label_at(cause.file, cause.line, 0, cause.label, context);
    if (!label.excerpt.empty()) {  // a line of the student's
      story.file = label.file;
      story.line = label.line;
      story.labels.push_back(label);
    }
  }
  return story;
}

void add_smaller_problem(Diagnostic& story, const Values& parameters) {
  story.smaller = parameters;
  story.notes.push_back(std::string(kSmallest) + text_of(parameters));
}

}  // namespace rooflab

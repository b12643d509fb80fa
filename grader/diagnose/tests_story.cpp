#include "grader/diagnose/tests_story.h"

#include <fmt/format.h>

#include <algorithm>

#include "grader/diagnose/story.h"

namespace rooflab {
namespace {

/// "C[0][3] is 5.25, and the case expects 5, at most 0.1 off".
std::string first_difference(const TensorCheck& check) {
  const auto first =
      static_cast<std::size_t>(std::ranges::find(check.wrong, true) - check.wrong.begin());
  return fmt::format("{} is {}, and the case expects {}, at most {} off",
                     element_name(check, first), number_text(check.got.at(first)),
                     number_text(check.expected.at(first)),
                     number_text(check.tolerance.empty() ? 0 : check.tolerance.at(first)));
}

}  // namespace

Diagnostic explain_unusable(const std::string& what, const std::string& remedy,
                            const DiagnoseContext& context) {
  Diagnostic story = begin_story("RL0618", context);
  story.message = what;
  story.help = remedy;
  return story;
}

Diagnostic explain_left_out(const TooLargeCase& too_large, const DiagnoseContext& context) {
  Diagnostic story = begin_story("RL0618", context);
  story.message = fmt::format(
      "the case \"{}\" has {} elements, {} too many, and is not run: of the {} that all "
      "cases may have together, those before it leave {}",
      too_large.case_name, too_large.elements, too_large.elements - too_large.left, too_large.most,
      too_large.left);
  story.help =
      "make the sizes small that the mistake in question does not need: a long sum needs no second "
      "row, a ragged edge no second tile";
  return story;
}

Diagnostic explain_refused_right(const RefusedRight& refused, const DiagnoseContext& context) {
  Diagnostic story = begin_story("RL0617", context);
  story.message = fmt::format("the case \"{}\" refuses {} of {} right implementations",
                              refused.case_name, refused.refused, refused.right);
  if (refused.wrong) {
    story.evidence = {fmt::format("{} of {} elements are not as expected",
                                  refused.wrong->wrong_count, refused.wrong->got.size()),
                      "in a right implementation " + first_difference(*refused.wrong)};
  }
  story.notes = {"what this case catches does not count until all right ones pass it"};
  story.help =
      "work that element out by hand from the header; where it is right, allow for sums in another "
      "order, which differ in their last digits";
  return story;
}

Diagnostic explain_uncaught(const GroupSpec& group, int uncaught, int count,
                            const DiagnoseContext& context) {
  Diagnostic story = begin_story("RL0616", context);
  story.message = fmt::format("{} of {} wrong implementations pass all cases: {}", uncaught, count,
                              group.title.empty() ? group.name : group.title);
  story.groups = {group.name};
  story.help = group.question;
  return story;
}

}  // namespace rooflab

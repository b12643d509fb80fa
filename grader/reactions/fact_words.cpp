#include "grader/reactions/fact_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "grader/reactions/changed_values.h"

namespace rooflab {
namespace {

using Kind = ReactionFact::Kind;

/// The words of a fact's inputs.
class Words {
 public:
  Words(const ReactionFact& fact, const Problem& problem, const AxisNames& axes)
      : fact_(fact), problem_(problem), axes_(axes) {}

  const Tensor& first() const { return problem_.tensors[fact_.inputs.front().tensor]; }
  std::size_t axis() const { return fact_.inputs.front().axis; }

  /// "keys", "keys and values".
  std::string names() const {
    std::vector<std::string> all;
    for (const auto& [tensor, axis] : fact_.inputs) all.push_back(problem_.tensors[tensor].name);
    return fmt::format("{}", fmt::join(all, " and "));
  }

  /// "channels 60 to 63", of the first input.
  std::string slices(const std::vector<std::int64_t>& coordinates) const {
    return slices_text(axes_, first(), axis(), coordinates);
  }

  /// "columns 7 and 8 of a and rows 7 and 8 of b", "token 3 of keys and values".
  std::string slices_of_all(const std::vector<std::int64_t>& coordinates) const {
    std::string text, before;
    for (const auto& [tensor, axis] : fact_.inputs) {
      const Tensor& input = problem_.tensors[tensor];
      const std::string words = slices_text(axes_, input, axis, coordinates);
      if (!text.empty()) text += " and ";
      text += words == before ? input.name : words + " of " + input.name;
      before = words;
    }
    return text;
  }

  bool is_one(const std::vector<std::int64_t>& coordinates) const {
    return coordinates.size() == 1 && fact_.inputs.size() == 1;
  }

 private:
  const ReactionFact& fact_;
  const Problem& problem_;
  const AxisNames& axes_;
};

/// "twice", "with the wrong sign", "with 0.25 times the weight".
std::string weight_text(double weight) {
  const auto is = [weight](double value) { return std::abs(weight - value) < 0.02; };
  if (is(2)) return "twice";
  if (is(-1)) return "with the wrong sign";
  if (is(0.5)) return "by half";
  if (is(3)) return "three times";
  return fmt::format("with {:.3g} times the weight", weight);
}

}  // namespace

FoundCause words_of(const ReactionFact& fact, const Problem& problem, const AxisNames& axes) {
  const Words words(fact, problem, axes);
  const std::string name = words.names();
  const std::string element =
      element_text(axes, problem.tensors[fact.element.tensor], fact.element.element);
  const char* const due_go = words.is_one(fact.due) ? "goes" : "go";
  const char* const got_go = words.is_one(fact.got) ? "goes" : "go";
  FoundCause cause;
  switch (fact.kind) {
    case Kind::no_effect:
      cause.code = "RL0551";
      cause.message = fmt::format("{} {} no effect on {}", name,
                                  fact.inputs.size() == 1 ? "has" : "have", element);
      cause.help = fmt::format("where is {} read, and what becomes of the value?", name);
      break;
    case Kind::missing:
      cause.code = "RL0551";
      cause.message =
          fmt::format("{} never {} into {}", words.slices_of_all(fact.due), due_go, element);
      cause.help =
          fmt::format("which loop, thread or condition leaves out {}?", words.slices(fact.due));
      break;
    case Kind::in_place:
      cause.code = "RL0552";
      cause.message = fmt::format("{} {} into {} in place of {}", words.slices_of_all(fact.got),
                                  got_go, element, words.slices(fact.due));
      cause.help = fmt::format("print the {} that {} is read at for this element",
                               axis_name(axes, words.first(), words.axis()), name);
      break;
    case Kind::further:
      cause.code = "RL0552";
      cause.message = fmt::format("{} {} into {}, and should not", words.slices_of_all(fact.got),
                                  got_go, element);
      cause.help =
          fmt::format("which bound or condition should leave out {}?", words.slices(fact.got));
      break;
    case Kind::turned:
      cause.code = "RL0552";
      cause.message = fmt::format("{} takes {} along its {}, and should take it along its {}",
                                  element, name, axis_names(axes, words.first(), words.axis()),
                                  axis_names(axes, words.first(), fact.due_axis));
      cause.help = fmt::format(
          "check which index of {} runs in the loop, and what it is multiplied by", name);
      break;
    case Kind::weight:
      cause.code = "RL0553";
      cause.message = fmt::format("{} {} into {} {}", words.slices_of_all(fact.got), got_go,
                                  element, weight_text(fact.weight));
      cause.help =
          "follow one of these values from its load to the result: what is it multiplied by, and "
          "how often is it added?";
      break;
  }
  cause.evidence.emplace_back(
      "seen by changing one slice of the inputs after the other, twice, with different inputs");
  return cause;
}

void add_load(const ReactionFact& fact, const Problem& problem, const ElementOrigin& origin,
              FoundCause& cause) {
  const bool looks_for_foreign = fact.kind == Kind::in_place || fact.kind == Kind::further;
  const auto is_meant = [&](const ElementRead& read) {
    const auto input =
        std::ranges::find(fact.inputs, read.from.tensor, &ReactionFact::Input::tensor);
    if (input == fact.inputs.end() || read.line == 0) return false;
    if (!looks_for_foreign) return true;
    const std::int64_t at = coordinate_of(problem.tensors[read.from.tensor].shape, input->axis,
                                          static_cast<std::int64_t>(read.from.element));
    return std::ranges::find(fact.got, at) != fact.got.end();
  };
  const auto read = std::ranges::find_if(origin.reads, is_meant);
  if (read != origin.reads.end()) {
    cause.file = read->file;
    cause.line = read->line;
    cause.label = fmt::format("{} is read here", problem.tensors[read->from.tensor].name);
  } else if (origin.complete && !looks_for_foreign && origin.line != 0) {
    cause.file = origin.file;
    cause.line = origin.line;
    cause.label = fmt::format("the element is stored here, and nothing of {} was read for it",
                              Words(fact, problem, {}).names());
  }
}

}  // namespace rooflab

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

using Input = ReactionFact::Input;
using Kind = ReactionFact::Kind;

/// The words of a fact's inputs.
class Words {
 public:
  Words(const ReactionFact& fact, const Problem& problem, const AxisNames& axes)
      : fact_(fact), problem_(problem), axes_(axes) {}

  const Input& first() const { return fact_.inputs.front(); }
  const Tensor& tensor() const { return problem_.tensors[first().tensor]; }

  /// "keys", "keys and values".
  std::string names() const {
    std::vector<std::string> all;
    for (const Input& input : fact_.inputs) {
      const std::string& name = problem_.tensors[input.tensor].name;
      if (all.empty() || all.back() != name) all.push_back(name);
    }
    return fmt::format("{}", fmt::join(all, " and "));
  }

  /// "columns 7 and 8 of a and rows 7 and 8 of b", "token 3 of keys and values", "row 3, column 5
  /// of x".
  std::string with_names(std::vector<std::int64_t> Input::*coordinates) const {
    std::string text, before;
    for (std::size_t i = 0; i < fact_.inputs.size(); ++i) {
      const Tensor& input = problem_.tensors[fact_.inputs[i].tensor];
      std::string words = slices(i, coordinates);
      while (i + 1 < fact_.inputs.size() && fact_.inputs[i + 1].tensor == fact_.inputs[i].tensor) {
        words += ", " + slices(++i, coordinates);
      }
      if (!text.empty()) text += " and ";
      text += words == before ? input.name : words + " of " + input.name;
      before = words;
    }
    return text;
  }

  /// The same without the tensors' names, each once: "row 1 and column 3".
  std::string alone(std::vector<std::int64_t> Input::*coordinates) const {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < fact_.inputs.size(); ++i) {
      const std::string words = slices(i, coordinates);
      if (std::ranges::find(all, words) == all.end()) all.push_back(words);
    }
    return fmt::format("{}", fmt::join(all, " and "));
  }

  bool is_one(std::vector<std::int64_t> Input::*coordinates) const {
    return fact_.inputs.size() == 1 && (first().*coordinates).size() == 1;
  }
  const char* go(std::vector<std::int64_t> Input::*coordinates) const {
    return is_one(coordinates) ? "goes" : "go";
  }

 private:
  std::string slices(std::size_t i, std::vector<std::int64_t> Input::*coordinates) const {
    const Input& input = fact_.inputs[i];
    return slices_text(axes_, problem_.tensors[input.tensor], input.axis, input.*coordinates);
  }

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
  const std::string element =
      element_text(axes, problem.tensors[fact.element.tensor], fact.element.element);
  FoundCause cause;
  switch (fact.kind) {
    case Kind::no_effect:
      cause.code = "RL0551";
      cause.message = fmt::format("{} {} no effect on {}", words.names(),
                                  fact.inputs.size() == 1 ? "has" : "have", element);
      cause.help = fmt::format("where is {} read, and what becomes of the value?", words.names());
      break;
    case Kind::missing:
      cause.code = "RL0551";
      cause.message = fmt::format("{} never {} into {}", words.with_names(&Input::due),
                                  words.go(&Input::due), element);
      cause.help =
          fmt::format("which loop, thread or condition leaves out {}?", words.alone(&Input::due));
      break;
    case Kind::in_place:
      cause.code = "RL0552";
      cause.message = fmt::format("{} {} into {} in place of {}", words.with_names(&Input::got),
                                  words.go(&Input::got), element, words.alone(&Input::due));
      cause.help =
          fmt::format("print the {} that {} is read at for this element",
                      axis_name(axes, words.tensor(), words.first().axis), words.tensor().name);
      break;
    case Kind::further:
      cause.code = "RL0552";
      cause.message = fmt::format("{} {} into {}, and should not", words.with_names(&Input::got),
                                  words.go(&Input::got), element);
      cause.help =
          fmt::format("which bound or condition should leave out {}?", words.alone(&Input::got));
      break;
    case Kind::turned:
      cause.code = "RL0552";
      cause.message =
          fmt::format("{} takes {} along its {}, and should take it along its {}", element,
                      words.names(), axis_names(axes, words.tensor(), words.first().axis),
                      axis_names(axes, words.tensor(), words.first().due_axis));
      cause.help = fmt::format(
          "check which index of {} runs in the loop, and what it is multiplied by", words.names());
      break;
    case Kind::weight:
      cause.code = "RL0553";
      cause.message =
          fmt::format("{} {} into {} {}", words.with_names(&Input::got), words.go(&Input::got),
                      element, weight_text(words.first().weight));
      cause.help =
          "follow one of these values from its load to the result: what is it multiplied by, and "
          "how often is it added?";
      break;
    case Kind::formula:
      cause.is_looks = true;
      cause.evidence.emplace_back(
          "each wrong element depends on just the inputs that it should: the indices are right, "
          "and "
          "the formula is not");
      return cause;
  }
  cause.evidence.emplace_back(
      "seen by changing one slice of the inputs after the other, twice, with different inputs");
  return cause;
}

void add_load(const ReactionFact& fact, const Problem& problem, const AxisNames& axes,
              const ElementOrigin& origin, FoundCause& cause) {
  const Words words(fact, problem, axes);
  const bool looks_for_foreign = fact.kind == Kind::in_place || fact.kind == Kind::further;
  const bool looks_for_missing = fact.kind == Kind::missing;
  const auto input_of = [&](const ElementRead& read) {
    return std::ranges::find(fact.inputs, read.from.tensor, &Input::tensor);
  };
  const auto is_of_input = [&](const ElementRead& read) {
    return read.line != 0 && input_of(read) != fact.inputs.end();
  };
  const auto is_meant = [&](const ElementRead& read) {
    if (!is_of_input(read)) return false;
    if (!looks_for_foreign && !looks_for_missing) return true;
    const Input& input = *input_of(read);
    const std::int64_t at = coordinate_of(problem.tensors[input.tensor].shape, input.axis,
                                          static_cast<std::int64_t>(read.from.element));
    return std::ranges::find(looks_for_missing ? input.due : input.got, at) !=
           (looks_for_missing ? input.due : input.got).end();
  };
  const auto point_at = [&](const ElementRead& read, const std::string& also) {
    cause.file = read.file;
    cause.line = read.line;
    cause.label = fmt::format("{} is read here{}", problem.tensors[read.from.tensor].name, also);
  };
  const auto meant = std::ranges::find_if(origin.reads, is_meant);
  const auto of_input = std::ranges::find_if(origin.reads, is_of_input);
  if (meant != origin.reads.end()) {
    point_at(*meant, "");
    if (!looks_for_missing) return;
    const bool is_one = words.is_one(&Input::due);
    cause.message =
        fmt::format("{} {} read for {}, and {} no effect on it", words.with_names(&Input::due),
                    is_one ? "is" : "are",
                    element_text(axes, problem.tensors[fact.element.tensor], fact.element.element),
                    is_one ? "has" : "have");
    cause.help =
        "follow the value from its load: is it multiplied by 0, overwritten, or does a quotient "
        "cancel it?";
  } else if (looks_for_missing && origin.complete && of_input != origin.reads.end()) {
    point_at(*of_input, ", but not at " + words.alone(&Input::due));
  } else if (fact.kind == Kind::no_effect && origin.complete && origin.line != 0) {
    cause.file = origin.file;
    cause.line = origin.line;
    cause.label =
        fmt::format("the element is stored here, and nothing of {} was read for it", words.names());
  }
}

}  // namespace rooflab

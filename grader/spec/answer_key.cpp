#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "grader/spec/answer_kinds.h"
#include "grader/spec/answers.h"
#include "grader/spec/toml_reader.h"

namespace rooflab {
namespace {

void check_key(const TableReader& reader, const QuestionSpec& question, const Value& answer) {
  if (is_of_kind(question, answer)) return;
  throw reader.error("answer", fmt::format("`{}` wants {}", question.id, kind_words(question)),
                     how_to_write(question));
}

/// Every formula has a value for each number that can be drawn, beside the page's own others.
void check_formula(const TableReader& entry, const QuestionSpec& question, const std::string& key,
                   const std::string& formula) {
  NamedNumbers numbers = numbers_of(0, question.draws, "");
  try {
    value_of(formula, numbers);
    for (const Draw& draw : question.draws) {
      for (const double value : draw.values) {
        numbers[draw.name] = value;
        value_of(formula, numbers);
      }
      numbers[draw.name] = draw.page;
    }
  } catch (const FormulaError& error) {
    throw entry.error(key, fmt::format("\"{}\" of \"{}\": {}", formula, question.id, error.what()),
                      "correct the formula");
  }
}

/// The formulas of a number, which have to agree with the answer on the page.
void read_formulas(TableReader& entry, const QuestionSpec& question, AnswerKey& key) {
  constexpr double kWritten = 1e-5;  // answers are written with six digits or more
  key.formula = entry.text_or("formula", "");
  entry.each("slips", [&](const toml::table& inner) {
    TableReader slip(inner, entry.file(), fmt::format("slip of \"{}\"", question.id));
    key.slips.push_back({slip.text("formula"), slip.text("cause")});
    slip.finish();
  });
  const bool has_some = !key.formula.empty() || !key.slips.empty();
  if (question.kind != QuestionKind::number) {
    if (!has_some) return;
    throw entry.error("formula", fmt::format("\"{}\" asks for no number", question.id),
                      "remove its formulas");
  }
  for (const KnownSlip& slip : key.slips) check_formula(entry, question, "slips", slip.formula);
  if (key.formula.empty()) {
    if (question.draws.empty()) return;
    throw entry.error("formula",
                      fmt::format("\"{}\" draws numbers, and has no formula", question.id),
                      "add formula = \"…\" of the numbers that it draws");
  }
  check_formula(entry, question, "formula", key.formula);
  const double value = value_of(key.formula, numbers_of(0, question.draws, ""));
  if (is_near(value, number_in(key.answer), kWritten)) return;
  throw entry.error("formula",
                    fmt::format("the formula of \"{}\" gives {:.9g} with the page's own numbers",
                                question.id, value),
                    "make it agree with the answer, which is worked out by other means");
}

/// The items of a rubric, whose points are those of the question.
std::vector<RubricItem> read_rubric(TableReader& entry, const QuestionSpec& question) {
  std::vector<RubricItem> rubric;
  double points = 0;
  entry.each("rubric", [&](const toml::table& inner) {
    TableReader item(inner, entry.file(), fmt::format("rubric of \"{}\"", question.id));
    rubric.push_back({item.number("points"), item.text("text")});
    item.finish();
    points += rubric.back().points;
    if (rubric.back().points > 0) return;
    throw item.error("points", fmt::format("an item of \"{}\" has no points", question.id),
                     "give it some, or leave it out");
  });
  if (rubric.empty()) return rubric;
  if (question.kind != QuestionKind::text) {
    throw entry.error("rubric", fmt::format("\"{}\" is no free text", question.id),
                      "a machine judges it: remove the rubric");
  }
  if (std::abs(points - question.points) > 1e-9) {
    throw entry.error("rubric",
                      fmt::format("the items of \"{}\" have {:g} points, and it has {:g}",
                                  question.id, points, question.points),
                      "make them equal");
  }
  return rubric;
}

}  // namespace

double number_in(const Value& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  return integer != nullptr ? static_cast<double>(*integer) : std::get<double>(value);
}

bool is_near(double got, double expected, double tolerance) {
  const double scale = expected == 0 ? 1 : std::abs(expected);
  return std::abs(got - expected) <= tolerance * scale;
}

double right_number(const AnswerKey& key, const NamedNumbers& numbers) {
  return key.formula.empty() ? number_in(key.answer) : value_of(key.formula, numbers);
}

const KnownSlip* slip_that_gives(double got, const AnswerKey& key, const NamedNumbers& numbers) {
  const double right = right_number(key, numbers);
  for (const KnownSlip& slip : key.slips) {
    const double wrong = value_of(slip.formula, numbers);
    // Where both lie close together, nobody can tell one from the other.
    if (is_near(wrong, right, 2 * key.tolerance)) continue;
    if (is_near(got, wrong, key.tolerance)) return &slip;
  }
  return nullptr;
}

std::map<std::string, AnswerKey> load_answer_key(const std::filesystem::path& file,
                                                 const TaskSpec& task) {
  const toml::table table = parse_toml(file);
  TableReader reader(table, file, "answer key");
  std::map<std::string, AnswerKey> keys;
  for (const QuestionSpec& question : task.questions) {
    const bool present = reader.maybe(question.id, [&](const toml::table& inner) {
      TableReader entry(inner, file, fmt::format("key of \"{}\"", question.id));
      AnswerKey key;
      if (question.kind != QuestionKind::text || entry.has("answer")) {
        key.answer = entry.value("answer");
        check_key(entry, question, key.answer);
      }
      key.tolerance = entry.number_or("tolerance", key.tolerance);
      key.why = entry.text_or("why", "");
      key.rubric = read_rubric(entry, question);
      read_formulas(entry, question, key);
      entry.finish();
      keys[question.id] = key;
    });
    if (!present && question.kind != QuestionKind::text) {
      throw reader.error(question.id, fmt::format("question \"{}\" has no key", question.id),
                         fmt::format("add [{}] with answer = …", question.id));
    }
  }
  reader.finish();
  return keys;
}

}  // namespace rooflab

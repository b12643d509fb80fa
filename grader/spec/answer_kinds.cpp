#include "grader/spec/answer_kinds.h"

#include <fmt/format.h>

#include <cctype>

namespace rooflab {
namespace {

char last_choice(const QuestionSpec& question) {
  return static_cast<char>('a' + question.choices.size() - 1);
}

bool is_choice(const QuestionSpec& question, const std::string& text) {
  return text.size() == 1 && text.front() >= 'a' && text.front() <= last_choice(question);
}

/// Without the one pair of quotes around it, where there is one.
std::string_view without_quotes(std::string_view text) {
  const bool is_quoted = text.size() >= 2 && text.front() == text.back() &&
                         (text.front() == '"' || text.front() == '\'');
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

WritingSlip slip_of_choice(const QuestionSpec& question, std::string_view literal) {
  const std::string_view inside = without_quotes(literal);
  if (inside.size() != 1) return {};
  const char letter = inside.front();
  const char small = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  if (!is_choice(question, std::string(1, small))) return {};
  if (small != letter) {
    return {"is a capital letter", fmt::format("write \"{}\", a small letter in quotes", small)};
  }
  return {"has no quotes", fmt::format("write \"{}\", in quotes", small)};
}

/// Digits with one comma among them: "184,4".
WritingSlip slip_of_number(std::string_view literal) {
  constexpr std::size_t kLongest = 20;
  const std::string_view inside = without_quotes(literal);
  const std::size_t comma = inside.find(',');
  if (inside.size() > kLongest || comma == std::string_view::npos || comma == 0) return {};
  const auto are_digits = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  const std::string_view whole = inside.substr(0, comma), rest = inside.substr(comma + 1);
  if (!are_digits(whole) || !are_digits(rest)) return {};
  if (rest.size() == 3) {  // it may group thousands
    return {"has a comma", fmt::format("write {}{} without the comma, or {}.{} with a decimal "
                                       "point, and no quotes",
                                       whole, rest, whole, rest)};
  }
  return {"has a comma",
          fmt::format("write it with a decimal point and without quotes: {}.{}", whole, rest)};
}

}  // namespace

bool is_of_kind(const QuestionSpec& question, const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  switch (question.kind) {
    case QuestionKind::number:
      return text == nullptr;
    case QuestionKind::choice:
      return text != nullptr && is_choice(question, *text);
    case QuestionKind::text:
      return text != nullptr;
  }
  return false;
}

std::string kind_words(const QuestionSpec& question) {
  switch (question.kind) {
    case QuestionKind::number:
      return "a number";
    case QuestionKind::choice:
      return "one of its choices";
    case QuestionKind::text:
      return "text";
  }
  return {};
}

WritingSlip slip_of(const QuestionSpec& question, std::string_view literal) {
  switch (question.kind) {
    case QuestionKind::number:
      return slip_of_number(literal);
    case QuestionKind::choice:
      return slip_of_choice(question, literal);
    case QuestionKind::text:
      return {};
  }
  return {};
}

std::string how_to_write(const QuestionSpec& question) {
  switch (question.kind) {
    case QuestionKind::number:
      return "write it without quotes and without a unit, as in 59 or 0.59";
    case QuestionKind::choice:
      return fmt::format("write its letter in quotes, \"a\" to \"{}\"", last_choice(question));
    case QuestionKind::text:
      return "write it in quotes; ''' before and after it lets it have several lines";
  }
  return {};
}

}  // namespace rooflab

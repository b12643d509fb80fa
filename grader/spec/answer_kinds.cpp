#include "grader/spec/answer_kinds.h"

#include <fmt/format.h>

namespace rooflab {
namespace {

char last_choice(const QuestionSpec& question) {
  return static_cast<char>('a' + question.choices.size() - 1);
}

bool is_choice(const QuestionSpec& question, const std::string& text) {
  return text.size() == 1 && text.front() >= 'a' && text.front() <= last_choice(question);
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

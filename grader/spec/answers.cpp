#include "grader/spec/answers.h"

#include <fmt/format.h>

#include <algorithm>

#include "grader/spec/toml_reader.h"

namespace rooflab {
namespace {

bool is_number(const Value& value) { return !std::holds_alternative<std::string>(value); }

std::string choices_of(const QuestionSpec& question) {
  return fmt::format("\"a\" to \"{}\"", static_cast<char>('a' + question.choices.size() - 1));
}

bool is_choice(const QuestionSpec& question, const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text != nullptr && text->size() == 1 && text->front() >= 'a' &&
         text->front() < static_cast<char>('a' + question.choices.size());
}

void check_type(const TableReader& reader, const std::string& key, const QuestionSpec& question,
                const Value& value) {
  if (question.kind == QuestionKind::number && !is_number(value)) {
    throw reader.error(key, fmt::format("`{}` wants a number", question.id),
                       "write it without quotes");
  }
  if (question.kind == QuestionKind::choice && !is_choice(question, value)) {
    throw reader.error(key, fmt::format("`{}` wants one of its choices", question.id),
                       "write " + choices_of(question));
  }
  if (question.kind == QuestionKind::text && is_number(value)) {
    throw reader.error(key, fmt::format("`{}` wants text", question.id), "write it in quotes");
  }
}

}  // namespace

Values read_answers(const std::string& text, const TaskSpec& task) {
  const toml::table table = parse_toml_text(text, task.file);
  TableReader reader(table, task.file, "answers");
  Values answers;
  for (const QuestionSpec& question : task.questions) {
    if (!reader.has(question.id)) continue;
    const Value value = reader.value(question.id);
    if (value == Value{std::string()}) continue;
    check_type(reader, question.id, question, value);
    answers[question.id] = value;
  }
  for (const auto& [key, node] : table) {
    const std::string id(key.str());
    if (std::ranges::find(task.questions, id, &QuestionSpec::id) == task.questions.end()) {
      throw spec_error(task.file, node, fmt::format("there is no question \"{}\"", id),
                       "use the ids of the handout");
    }
  }
  return answers;
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
        check_type(entry, "answer", question, key.answer);
      }
      key.tolerance = entry.number_or("tolerance", key.tolerance);
      key.why = entry.text_or("why", "");
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

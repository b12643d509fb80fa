#include "grader/spec/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "grader/spec/answer_kinds.h"
#include "grader/spec/answer_lines.h"
#include "grader/spec/similar_name.h"
#include "grader/spec/toml_reader.h"

namespace rooflab {
namespace {

constexpr std::size_t kMostStrange = 10;  // lines that belong to no question
constexpr std::size_t kLongestExcerpt = 60;
constexpr std::size_t kLongestLiteral = 4096;  // of a number or a choice

std::string excerpt_of(std::string_view line) {
  if (line.size() <= kLongestExcerpt) return std::string(line);
  return std::string(line.substr(0, kLongestExcerpt)) + "…";
}

/// A value without the comment behind it.
std::string_view without_comment(std::string_view literal) {
  const std::size_t quote = literal.find_last_of("'\"");
  const std::size_t from = quote == std::string_view::npos ? 0 : quote;
  return trimmed(literal.substr(0, literal.find('#', from)));
}

bool is_quote(char c) { return c == '"' || c == '\''; }

/// The value of one line of TOML; nothing where it is none, or has parts of its own.
std::optional<Value> scalar_of(std::string_view literal) {
  const bool nests = literal.empty() || literal.front() == '[' || literal.front() == '{';
  if (nests) return std::nullopt;
  try {
    const toml::table table = parse_toml_text("v = " + std::string(literal) + "\n", "answer");
    if (table.size() != 1) return std::nullopt;  // a line break within has begun another key
    return TableReader(table, "answer", "answer").value("v");
  } catch (const SpecError&) {
    return std::nullopt;
  }
}

/// Takes one quote or three from either end.
std::string unquoted(std::string_view text) {
  const auto strip = [](std::string_view& from, auto remove) {
    for (int i = 0; i < 3 && remove(from); ++i) {
    }
  };
  strip(text, [](std::string_view& from) {
    if (from.empty() || !is_quote(from.front())) return false;
    from.remove_prefix(1);
    return true;
  });
  strip(text, [](std::string_view& from) {
    if (from.empty() || !is_quote(from.back())) return false;
    from.remove_suffix(1);
    return true;
  });
  return std::string(trimmed(text));
}

/// Reads the lines of one file, entry by entry.
class AnswerReader {
 public:
  AnswerReader(std::string_view text, const TaskSpec& task)
      : task_(task), lines_(text, ids_of(task)) {}

  Answers read() {
    for (std::size_t i = 0; i < lines_.count();) i = read_at(i);
    std::ranges::stable_sort(answers_.problems, {}, &AnswerProblem::line);
    for (const QuestionSpec& question : task_.questions) {
      const bool may_be_meant = (has_loose_text_ && !named_.contains(question.id)) ||
                                followed_by_text_.contains(question.id);
      if (may_be_meant && !answers_.values.contains(question.id)) {
        answers_.unclear.insert(question.id);
      }
    }
    return std::move(answers_);
  }

 private:
  static std::set<std::string> ids_of(const TaskSpec& task) {
    std::set<std::string> ids;
    for (const QuestionSpec& question : task.questions) ids.insert(question.id);
    ids.insert(kStudentKey);
    return ids;
  }

  /// Reads what begins at line `i`. @return the line after it
  std::size_t read_at(std::size_t i) {
    if (lines_.is_blank(i)) return i + 1;
    const auto entry = lines_.entry(i);
    if (!entry) return skip_strange(i);
    if (entry->key == kStudentKey) return read_student(i, entry->value);
    const auto question = std::ranges::find(task_.questions, entry->key, &QuestionSpec::id);
    if (question == task_.questions.end()) return skip_unknown(i, *entry);
    const std::string_view from = lines_.text().substr(entry->value);
    named_.insert(entry->key);
    last_named_ = entry->key;
    const bool is_long = from.starts_with("'''") || from.starts_with("\"\"\"");
    return is_long ? read_long(i, *question, entry->value) : read_line(i, *question, entry->value);
  }

  /// Whose answers these are. A number without quotes is an ID, too, and may begin with 0.
  std::size_t read_student(std::size_t i, std::size_t value) {
    const std::string named = unquoted(without_comment(lines_.text_to(value, i)));
    if (named.empty()) return i + 1;  // not filled in
    const auto id = student_id(named);
    const bool is_second = id && !answers_.student.empty() && *id != answers_.student;
    if (id && !is_second) {
      answers_.student = *id;
      return i + 1;
    }
    complain({.question = {},
              .line = number(i),
              .excerpt = excerpt_of(lines_.line(i)),
              .message = is_second ? "student has an ID already, and this is another one"
                                   : "this is no student's ID",
              .help = is_second ? "keep one of the two lines"
                                : "write yours in quotes, as in student = \"ada\"",
              .costs = false});
    return i + 1;
  }

  /// Lines that are no entry, up to the next one, are told once.
  std::size_t skip_strange(std::size_t i) {
    const bool is_section = lines_.line(i).front() == '[';
    complain({.question = {},
              .line = number(i),
              .excerpt = excerpt_of(lines_.line(i)),
              .message = is_section ? "answers stand in no section" : "this line is no answer",
              .help = is_section ? "remove the line; the answers below it count"
                                 : "write it as `question = answer`, or begin it with #",
              .costs = false});
    const std::size_t end = past_strange(i + 1);
    if (!is_section || end > i + 1) {
      has_loose_text_ = true;
      followed_by_text_.insert(last_named_);
    }
    return end;
  }

  std::size_t past_strange(std::size_t i) const {
    while (i < lines_.count() && !lines_.entry(i) && !lines_.is_blank(i)) ++i;
    return i;
  }

  std::size_t skip_unknown(std::size_t i, const AnswerLines::Entry& entry) {
    has_loose_text_ = true;
    std::vector<std::string> ids;
    for (const QuestionSpec& question : task_.questions) ids.push_back(question.id);
    complain({.question = {},
              .line = number(i),
              .excerpt = excerpt_of(lines_.line(i)),
              .message = fmt::format("there is no question \"{}\"", excerpt_of(entry.key)) +
                         did_you_mean(entry.key, ids),
              .help = "use the ids of the handout",
              .costs = false});
    return past_strange(i + 1);
  }

  /// A value in one line.
  std::size_t read_line(std::size_t i, const QuestionSpec& question, std::size_t value) {
    const std::string_view literal = lines_.text_to(value, i);
    if (literal.empty() || literal.front() == '#') {
      fail(question, i, fmt::format("{} has no answer behind its =", question.id));
      return i + 1;
    }
    const bool is_text = question.kind == QuestionKind::text;
    const bool is_readable = is_text || literal.size() <= kLongestLiteral;
    const auto read = is_readable ? scalar_of(literal) : std::nullopt;
    if (read && is_of_kind(question, *read)) {
      keep(question, *read, i);
      return i + 1;
    }
    if (read && *read == Value{std::string()}) return i + 1;  // still open
    if (!is_text) {
      fail_kind(question, i, literal);
      return past_strange(i + 1);
    }
    const std::size_t last = read ? i : last_of_broken_text(i, literal);
    recover(question, i, unquoted(lines_.text_to(value, last)));
    return last + 1;
  }

  /// The last line of a text in one pair of quotes that TOML does not take: that where it is
  /// closed, or the one before the next question.
  std::size_t last_of_broken_text(std::size_t i, std::string_view literal) const {
    const std::size_t end = lines_.next_question(i);
    const auto is_closed = [&](std::string_view words) {
      return !words.empty() && !literal.empty() && words.back() == literal.front();
    };
    if (literal.empty() || !is_quote(literal.front())) {  // without quotes: a paragraph
      std::size_t last = i;
      while (last + 1 < end && !lines_.is_blank(last + 1)) ++last;
      return last;
    }
    if (literal.size() > 1 && is_closed(literal)) return i;  // with further quotes within
    for (std::size_t last = i + 1; last < end; ++last) {
      if (is_closed(lines_.line(last))) return last;
    }
    return end - 1;
  }

  /// A value between ''' or """, of any number of lines.
  std::size_t read_long(std::size_t i, const QuestionSpec& question, std::size_t value) {
    const std::size_t end = end_of_long(value);
    const std::size_t last =
        end == std::string_view::npos ? lines_.count() : lines_.line_at(end - 1);
    if (end != std::string_view::npos && is_closed_well(i, last, end)) {
      const auto read = scalar_of(lines_.text().substr(value, end - value));
      if (read && is_of_kind(question, *read)) {
        keep(question, *read, i);
        return last + 1;
      }
      if (read && *read == Value{std::string()}) return last + 1;
      if (question.kind == QuestionKind::text) {
        recover(question, i, unquoted(lines_.text().substr(value, end - value)));
      } else {
        fail_kind(question, i, lines_.text_to(value, i));
      }
      return last + 1;
    }
    const std::size_t next = lines_.next_question(i);
    if (question.kind == QuestionKind::text) {
      recover(question, i, unquoted(lines_.text_to(value, next - 1)));
    } else {
      fail_kind(question, i, lines_.text_to(value, i));
    }
    return next;
  }

  /// Behind the closing quotes of a long text; npos where there are none.
  std::size_t end_of_long(std::size_t value) const {
    const std::string_view text = lines_.text();
    const std::string_view quotes = text.substr(value, 3);
    const bool escapes = quotes.front() == '"';
    for (std::size_t at = value + 3; at < text.size(); ++at) {
      if (escapes && text[at] == '\\') {
        ++at;
      } else if (text.substr(at, 3) == quotes) {
        at += 3;
        // A quote or two may stand right before the closing ones.
        for (int more = 0; more < 2 && at < text.size() && text[at] == quotes.front(); ++more) ++at;
        return at;
      }
    }
    return std::string_view::npos;
  }

  /// Whether the quotes that were found close this text, and not open that of a later question:
  /// then something that is no answer follows them.
  bool is_closed_well(std::size_t first, std::size_t last, std::size_t end) const {
    const std::string_view rest = lines_.text_to(end, last);
    if (!rest.empty() && rest.front() != '#') return false;
    const bool holds_question = lines_.next_question(first) <= last;
    if (!holds_question) return true;
    std::size_t next = last + 1;
    while (next < lines_.count() && lines_.is_blank(next)) ++next;
    return next == lines_.count() || lines_.entry(next).has_value();
  }

  void keep(const QuestionSpec& question, const Value& value, std::size_t i) {
    if (value == Value{std::string()}) return;  // still open
    const auto [first, is_new] = read_at_.emplace(question.id, number(i));
    if (is_new) {
      answers_.values[question.id] = value;
      return;
    }
    if (const auto known = answers_.values.find(question.id);
        known != answers_.values.end() && known->second == value) {
      return;
    }
    const bool is_text = question.kind == QuestionKind::text;
    if (is_text) {  // a person reads both
      auto& text = std::get<std::string>(answers_.values[question.id]);
      text += "\n" + std::get<std::string>(value);
    } else {
      answers_.values.erase(question.id);
    }
    complain({.question = question.id,
              .line = number(i),
              .excerpt = excerpt_of(lines_.line(i)),
              .message = fmt::format("{} is answered twice, in line {} and here", question.id,
                                     first->second),
              .help = "keep one of the two",
              .costs = !is_text});
  }

  /// A text whose quotes are not in order.
  void recover(const QuestionSpec& question, std::size_t i, const std::string& text) {
    if (text.empty()) return;
    keep(question, text, i);
    complain({.question = question.id,
              .line = number(i),
              .excerpt = excerpt_of(lines_.line(i)),
              .message = fmt::format("the quotes around the answer to {} are not in order; "
                                     "{} bytes of text were found",
                                     question.id, text.size()),
              .help = "put ''' before and after it: it may have any quotes and lines then",
              .costs = false});
  }

  /// A value in one line that is not of the question's kind; the commonest slips have words of
  /// their own.
  void fail_kind(const QuestionSpec& question, std::size_t i, std::string_view literal) {
    const std::string_view value = without_comment(literal);
    const WritingSlip slip = slip_of(question, value);
    const bool is_known = !slip.help.empty();
    fail(question, i,
         fmt::format("{} wants {}, and {} {}", question.id, kind_words(question), excerpt_of(value),
                     is_known ? slip.what : "is not one"),
         is_known ? slip.help : how_to_write(question));
  }

  void fail(const QuestionSpec& question, std::size_t i, std::string message) {
    fail(question, i, std::move(message), how_to_write(question));
  }

  void fail(const QuestionSpec& question, std::size_t i, std::string message, std::string help) {
    complain({.question = question.id,
              .line = number(i),
              .excerpt = excerpt_of(lines_.line(i)),
              .message = std::move(message),
              .help = std::move(help),
              .costs = question.kind != QuestionKind::text});
  }

  /// Each question is complained about once, and of other lines the first ones are.
  void complain(AnswerProblem problem) {
    const bool is_new = problem.question.empty() ? ++strange_ <= kMostStrange
                                                 : complained_.insert(problem.question).second;
    if (is_new) answers_.problems.push_back(std::move(problem));
  }

  static std::uint32_t number(std::size_t i) { return static_cast<std::uint32_t>(i + 1); }

  const TaskSpec& task_;
  AnswerLines lines_;
  Answers answers_;
  std::map<std::string, std::uint32_t> read_at_;  ///< the line of each answer that was read
  std::set<std::string> complained_;              ///< questions with a problem
  std::set<std::string> named_;                   ///< questions that have a line
  std::string last_named_;                        ///< of these
  std::set<std::string> followed_by_text_;        ///< likewise, text without a key stands behind it
  bool has_loose_text_ = false;                   ///< that belongs to no question
  std::size_t strange_ = 0;                       ///< lines that belong to no question
};

}  // namespace

Answers read_answers(const std::string& text, const TaskSpec& task) {
  return AnswerReader(text, task).read();
}

}  // namespace rooflab

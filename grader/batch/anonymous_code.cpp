#include "grader/batch/anonymous_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "grader/batch/intake/fold_name.h"
#include "grader/report/text.h"
#include "simgpu/source/tokens.h"

namespace rooflab {
namespace {

constexpr std::uint32_t kAround = 3;  // lines before and behind
constexpr std::size_t kLongestLine = 120;
constexpr std::size_t kDeepestIndent = 40;
constexpr std::size_t kShortestNumber = 5;  // digits that could be somebody's number
constexpr std::size_t kShortestName = 3;    // letters of a name that tells somebody apart

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// The words of a text, whatever it is written in.
std::set<std::string> words_in(std::string_view text) {
  std::set<std::string> words;
  std::string word;
  for (const char c : text) {
    if (is_letter(c) || c == '_' || (!word.empty() && c >= '0' && c <= '9')) {
      word += c;
    } else if (!word.empty()) {
      words.insert(std::exchange(word, {}));
    }
  }
  if (!word.empty()) words.insert(word);
  return words;
}

/// "ada", "s", "tile" of "adaS_Tile".
std::vector<std::string> pieces_of(const std::string& word) {
  std::vector<std::string> pieces(1);
  bool was_small = false;
  for (const char c : word) {
    const bool is_large = c >= 'A' && c <= 'Z';
    if (!is_letter(c) || (is_large && was_small)) pieces.emplace_back();
    was_small = is_letter(c) && !is_large;
    if (is_letter(c)) {
      pieces.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return pieces;
}

bool is_number(const simgpu::Token& token) {
  return std::isdigit(static_cast<unsigned char>(token.text.front())) != 0;
}

/// Writes the tokens of a few lines.
class Writer {
 public:
  Writer(std::string_view text, const WordsToShow& words) : text_(text), words_(words) {}

  void add(const simgpu::Token& token) {
    if (token.line != line_) {
      line_ = token.line;
      lines_[line_] = std::string(indent_of(token), ' ');
    } else if (token.offset > end_) {
      lines_[line_] += ' ';
    }
    lines_[line_] += shown(token);
    end_ = token.offset + token.text.size();
  }

  std::vector<AnonymousLine> finish(std::uint32_t meant) const {
    std::size_t indent = kDeepestIndent;
    for (const auto& [number, text] : lines_) {
      indent = std::min(indent, text.find_first_not_of(' '));
    }
    std::vector<AnonymousLine> all;
    for (const auto& [number, text] : lines_) {
      all.push_back(
          {.is_meant = number == meant, .text = shorten(text.substr(indent), kLongestLine)});
    }
    return all;
  }

 private:
  std::size_t indent_of(const simgpu::Token& token) const {
    const std::size_t before = text_.rfind('\n', token.offset);
    const std::size_t first = before == std::string_view::npos ? 0 : before + 1;
    return std::min(kDeepestIndent, token.offset - first);
  }

  std::string shown(const simgpu::Token& token) {
    switch (token.kind) {
      case simgpu::Token::Kind::sign:
        return static_cast<unsigned char>(token.text.front()) < 0x80 ? token.text : "?";
      case simgpu::Token::Kind::literal:
        if (!is_number(token)) return "\"…\"";
        return token.text.size() < kShortestNumber || words_.may_show(token.text) ? token.text
                                                                                  : "N";
      case simgpu::Token::Kind::word:
        break;
    }
    if (words_.may_show(token.text)) return token.text;
    const auto [name, is_new] =
        names_.emplace(token.text, fmt::format("name{}", names_.size() + 1));
    return name->second;
  }

  std::string_view text_;
  const WordsToShow& words_;
  std::map<std::uint32_t, std::string> lines_;
  std::map<std::string, std::string> names_;
  std::uint32_t line_ = 0;
  std::size_t end_ = 0;
};

}  // namespace

WordsToShow::WordsToShow(const std::vector<Student>& students,
                         const std::vector<std::string>& pages) {
  for (const std::string& page : pages) of_course_.merge(words_in(page));
  for (const Student& student : students) {
    std::vector<std::string> names = names_of(student);
    names.push_back(student.name);
    for (const std::string& name : names) {
      for (const std::string& word : words_in(fold_name(name))) {
        if (word.size() >= kShortestName) of_names_.insert(word);
      }
    }
  }
}

void WordsToShow::add(const SourceFiles& files) {
  std::set<std::string> words;
  for (const auto& [path, text] : files) {
    for (const simgpu::Token& token : simgpu::tokens_of(text).tokens) {
      if (token.kind != simgpu::Token::Kind::sign) words.insert(token.text);
    }
  }
  for (const std::string& word : words) ++submissions_[word];
}

bool WordsToShow::may_show(const std::string& word) const {
  const auto known = submissions_.find(word);
  const bool is_shared = known != submissions_.end() && known->second >= kLeastToShow;
  const bool is_of_course = of_course_.contains(word);
  const bool may_name_somebody = std::ranges::any_of(
      pieces_of(word), [&](const std::string& piece) { return of_names_.contains(piece); });
  // Several may agree on a word that names a classmate, but nobody writes the course's pages.
  return may_name_somebody ? is_shared && is_of_course : is_shared || is_of_course;
}

std::vector<AnonymousLine> anonymous_lines(std::string_view text, std::uint32_t line,
                                           const WordsToShow& words) {
  Writer writer(text, words);
  bool has_line = false;
  for (const simgpu::Token& token : simgpu::tokens_of(text).tokens) {
    if (token.line + kAround < line || token.line > line + kAround) continue;
    writer.add(token);
    has_line = has_line || token.line == line;
  }
  if (!has_line) return {};
  return writer.finish(line);
}

}  // namespace rooflab

#include "simgpu/replay/loops.h"

#include <algorithm>
#include <string_view>

#include "simgpu/replay/declarations.h"

namespace simgpu::replay {
namespace {

using Tokens = std::vector<Token>;
/// Of tokens: first, end.
struct Part {
  std::size_t first = 0, end = 0;
  std::size_t size() const { return end - first; }
};

/// What stands between the parentheses of a `for`, at its semicolons.
std::vector<Part> parts_of(const Tokens& tokens, std::size_t open, std::size_t end) {
  std::vector<Part> parts{{open + 1, 0}};
  for (std::size_t i = open + 1; i + 1 < end; ++i) {
    if (tokens[i].text == "{" || tokens[i].text == ",") return {};  // several counters, or a call
    if (tokens[i].text != ";") continue;
    parts.back().end = i;
    parts.push_back({i + 1, 0});
  }
  parts.back().end = end - 1;
  return parts;
}

/// `int k = start`
bool read_start(const Tokens& tokens, const Part& part, CountedLoop& loop) {
  std::size_t sign = part.first;
  while (sign < part.end && tokens[sign].text != "=") ++sign;
  if (sign + 1 >= part.end || sign < part.first + 2 || !is_word(tokens[sign - 1])) return false;
  loop.counter = tokens[sign - 1].text;
  loop.type = plain_type(tokens, part.first, sign - 1);
  loop.start.assign(tokens.begin() + static_cast<std::ptrdiff_t>(sign) + 1,
                    tokens.begin() + static_cast<std::ptrdiff_t>(part.end));
  return loop.type == "int" || loop.type == "unsigned" || loop.type == "long" ||
         loop.type == "size_t";
}

/// `++k`, `k--`, `k += by`, `k >>= 1`
bool read_update(const Tokens& tokens, const Part& part, CountedLoop& loop) {
  const auto text = [&](std::size_t i) -> std::string_view {
    return i < part.size() ? std::string_view(tokens[part.first + i].text) : std::string_view();
  };
  if (part.size() == 2) {
    const bool is_before = text(1) == loop.counter;
    const std::string_view sign = text(is_before ? 0 : 1);
    if (!is_before && text(0) != loop.counter) return false;
    loop.operation = sign == "++" ? '+' : '-';
    return sign == "++" || sign == "--";
  }
  if (text(0) != loop.counter || text(1).size() != 1) return false;
  constexpr std::string_view kOperations = "+-*/";
  const bool shifts = (text(1) == "<" || text(1) == ">") && text(2) == text(1);
  const std::size_t sign = shifts ? 3 : 2;
  if (!shifts && kOperations.find(text(1)[0]) == std::string_view::npos) return false;
  if (text(sign) != "=" || sign + 1 >= part.size()) return false;
  loop.operation = text(1)[0];
  loop.by.assign(tokens.begin() + static_cast<std::ptrdiff_t>(part.first + sign) + 1,
                 tokens.begin() + static_cast<std::ptrdiff_t>(part.end));
  return true;
}

/// The body from its first token on; of a statement that is no block only a plain one.
std::optional<Part> body_at(const Tokens& tokens, std::size_t first) {
  if (first >= tokens.size()) return std::nullopt;
  if (tokens[first].text == "{") return Part{first, behind_closing(tokens, first)};
  for (const std::string_view word : {"for", "if", "while", "do", "switch", "else"}) {
    if (tokens[first].text == word) return std::nullopt;
  }
  std::size_t end = first;
  while (end < tokens.size() && tokens[end].text != ";") {
    if (tokens[end].text == "{") return std::nullopt;
    ++end;
  }
  return Part{first, std::min(end + 1, tokens.size())};
}

/// Whether the body says the name without changing what it stands for.
bool leaves_alone(const Assignments& source, const Part& body, const std::string& name) {
  if (source.changed_by(body.first, body.end).contains(name)) return false;
  const Tokens& tokens = source.tokens();
  for (std::size_t i = body.first; i < body.end; ++i) {
    if (tokens[i].text != name || i == 0) continue;
    const Token& before = tokens[i - 1];
    const bool is_declared = is_word(before) && before.text != "return" && before.text != "case";
    if (is_declared) return false;
  }
  return true;
}

std::optional<CountedLoop> loop_at(const Assignments& source, std::size_t at) {
  const Tokens& tokens = source.tokens();
  if (at + 1 >= tokens.size() || tokens[at + 1].text != "(") return std::nullopt;
  const std::size_t end = behind_closing(tokens, at + 1);
  const std::vector<Part> parts = parts_of(tokens, at + 1, end);
  if (parts.size() != 3 || tokens[end - 1].line != tokens[at].line) return std::nullopt;
  CountedLoop loop{.first_line = tokens[at].line, .counter = {}, .type = {}, .start = {}, .by = {}};
  if (!read_start(tokens, parts[0], loop) || !read_update(tokens, parts[2], loop)) {
    return std::nullopt;
  }
  if (source.changed_by(parts[1].first, parts[1].end).contains(loop.counter)) return std::nullopt;
  const std::optional<Part> body = body_at(tokens, end);
  if (!body || !leaves_alone(source, *body, loop.counter)) return std::nullopt;
  const std::size_t first_word = body->first + (tokens[body->first].text == "{" ? 1 : 0);
  if (first_word >= body->end || tokens[first_word].line == loop.first_line) return std::nullopt;
  loop.last_line = tokens[body->end - 1].line;
  return loop;
}

}  // namespace

std::vector<CountedLoop> counted_loops(const Assignments& source) {
  std::vector<CountedLoop> loops;
  std::uint32_t line_before = 0;  // of the last `for`, counted or not
  const Tokens& tokens = source.tokens();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool begins_loop =
        tokens[i].text == "for" || tokens[i].text == "while" || tokens[i].text == "do";
    if (!begins_loop) continue;
    const bool shares_line = tokens[i].line == line_before;
    line_before = tokens[i].line;
    if (shares_line) {
      std::erase_if(loops, [&](const CountedLoop& loop) { return loop.first_line == line_before; });
      continue;
    }
    if (tokens[i].text != "for") continue;
    if (auto loop = loop_at(source, i)) loops.push_back(*std::move(loop));
  }
  return loops;
}

std::optional<std::int64_t> counter_after(const CountedLoop& loop, std::uint32_t iterations,
                                          const IntegerNames& names) {
  constexpr std::uint32_t kMostIterations = 1U << 20;
  const auto start = integer_value(loop.start, names);
  const auto by = loop.by.empty() ? std::optional<std::int64_t>(1) : integer_value(loop.by, names);
  if (!start || !by || iterations > kMostIterations) return std::nullopt;
  // In unsigned arithmetic, which may wrap around as a hostile source wants.
  auto value = static_cast<std::uint64_t>(*start);
  const auto step = static_cast<std::uint64_t>(*by);
  if (loop.operation == '+') return static_cast<std::int64_t>(value + iterations * step);
  if (loop.operation == '-') return static_cast<std::int64_t>(value - iterations * step);
  const bool shifts = loop.operation == '<' || loop.operation == '>';
  constexpr std::uint32_t kMostBits = 64;
  const bool is_usual = *by > 0 && *start >= 0 && iterations <= kMostBits;
  if (!is_usual || (shifts && *by >= 32)) return std::nullopt;
  for (std::uint32_t i = 0; i < iterations; ++i) {
    if (loop.operation == '*') value *= step;
    if (loop.operation == '/') value /= step;
    if (loop.operation == '<') value <<= step;
    if (loop.operation == '>') value >>= step;
  }
  return static_cast<std::int64_t>(value);
}

}  // namespace simgpu::replay

#include "grader/diagnose/loop_order.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "simgpu/source/tokens.h"

namespace rooflab {
namespace {

using simgpu::Token;
using Tokens = std::vector<Token>;

/// A block of statements that is open at some place.
struct OpenBlock {
  std::size_t brace;       ///< index of the token
  std::uint32_t loop = 0;  ///< line of the loop whose body it is; 0 for any other block
  bool operator==(const OpenBlock&) const = default;
};
using Nesting = std::vector<OpenBlock>;

/// The line of the `for`, `while` or `do` that a brace belongs to; 0 when there is none.
std::uint32_t loop_of(const Tokens& tokens, std::size_t brace) {
  if (brace == 0) return 0;
  std::size_t at = brace - 1;
  if (tokens[at].text == "do") return tokens[at].line;
  if (tokens[at].text != ")") return 0;
  int open = 0;
  do {
    if (tokens[at].text == ")") ++open;
    if (tokens[at].text == "(") --open;
  } while (open > 0 && at-- > 0);
  if (open > 0 || at == 0) return 0;
  const Token& keyword = tokens[at - 1];
  return keyword.text == "for" || keyword.text == "while" ? keyword.line : 0;
}

/// The blocks that are open behind each token.
std::vector<Nesting> nesting_of(const Tokens& tokens) {
  std::vector<Nesting> behind;
  Nesting open;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].text == "{") open.push_back({i, loop_of(tokens, i)});
    if (tokens[i].text == "}" && !open.empty()) open.pop_back();
    behind.push_back(open);
  }
  return behind;
}

bool encloses(const Nesting& outer, const Nesting& inner) {
  return outer.size() <= inner.size() && std::equal(outer.begin(), outer.end(), inner.begin());
}

/// Whether a statement of its own begins here: no body of an `if` or a loop without braces.
bool begins_statement(const Tokens& tokens, std::size_t at) {
  if (at == 0) return false;
  const std::string& before = tokens[at - 1].text;
  return before == ";" || before == "{" || before == "}";
}

}  // namespace

std::optional<std::uint32_t> loop_without_last_barrier(const std::string& source,
                                                       std::uint32_t store_line,
                                                       std::uint32_t read_line,
                                                       const std::string& barrier) {
  if (store_line == 0 || store_line >= read_line) return std::nullopt;
  const simgpu::SourceTokens text = simgpu::tokens_of(source);
  const Tokens& tokens = text.tokens;
  const auto behind_line = [&](std::uint32_t line) {
    const auto first =
        std::ranges::find_if(tokens, [=](const Token& token) { return token.line > line; });
    return static_cast<std::size_t>(first - tokens.begin());
  };
  const std::size_t store_end = behind_line(store_line);
  const std::size_t read = behind_line(read_line - 1);
  const std::size_t read_end = behind_line(read_line);
  if (text.renumbers_lines || store_end == 0 || read >= tokens.size()) return std::nullopt;
  const std::vector<Nesting> nesting = nesting_of(tokens);
  const Nesting& at_store = nesting[store_end - 1];
  std::optional<OpenBlock> loop;
  for (std::size_t i = store_end; i < read; ++i) {
    if (tokens[i].text != barrier || !begins_statement(tokens, i)) continue;
    if (!encloses(nesting[i], at_store) || !encloses(nesting[i], nesting[read])) continue;
    for (const OpenBlock& block : nesting[i]) {
      if (block.loop > 0) loop = block;
    }
  }
  if (!loop) return std::nullopt;
  for (std::size_t i = read_end; i < tokens.size(); ++i) {
    if (std::ranges::find(nesting[i], *loop) == nesting[i].end()) break;
    if (tokens[i].text == barrier) return std::nullopt;
  }
  return loop->loop;
}

}  // namespace rooflab

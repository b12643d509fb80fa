#include "grader/diagnose/link_error.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "grader/spec/similar_name.h"
#include "simgpu/source/tokens.h"

namespace rooflab {
namespace {

using Tokens = std::vector<simgpu::Token>;

struct Definition {
  std::string name;
  std::string text;  ///< "gemv(const float* a, int m)"
  std::string file;
  std::uint32_t line = 0;
};

bool is_word(const simgpu::Token& token) { return token.kind == simgpu::Token::Kind::word; }

/// Behind the parenthesis that closes the one at `open`.
std::size_t behind_parameters(const Tokens& tokens, std::size_t open) {
  std::size_t depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i].text == "(") ++depth;
    if (tokens[i].text == ")" && --depth == 0) return i + 1;
  }
  return tokens.size();
}

std::string text_of(const Tokens& tokens, std::size_t first, std::size_t last) {
  std::string text;
  for (std::size_t i = first; i < last; ++i) {
    const bool apart = i > first && is_word(tokens[i]) &&
                       (is_word(tokens[i - 1]) || tokens[i - 1].text == "*" ||
                        tokens[i - 1].text == "&" || tokens[i - 1].text == ",");
    text += (apart ? " " : "") + tokens[i].text;
  }
  return text;
}

/// Functions with a body: a word, parameters, and a brace.
void add_definitions(const std::string& file, const std::string& source,
                     std::vector<Definition>& definitions) {
  constexpr std::array<std::string_view, 6> kStatements{"if",     "for",   "while",
                                                        "switch", "catch", "return"};
  const Tokens tokens = simgpu::tokens_of(source).tokens;
  for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
    if (!is_word(tokens[i]) || tokens[i + 1].text != "(") continue;
    const bool has_type =
        is_word(tokens[i - 1]) || tokens[i - 1].text == "*" || tokens[i - 1].text == ">";
    if (!has_type || std::ranges::find(kStatements, tokens[i].text) != kStatements.end()) continue;
    const std::size_t behind = behind_parameters(tokens, i + 1);
    if (behind >= tokens.size() || tokens[behind].text != "{") continue;
    definitions.push_back({tokens[i].text, text_of(tokens, i, behind), file, tokens[i].line});
  }
}

/// What the first "undefined reference to `…'" names.
std::string undefined_in(const std::string& messages) {
  constexpr std::string_view kMessage = "undefined reference to `";
  const std::size_t at = messages.find(kMessage);
  if (at == std::string::npos) return {};
  const std::size_t first = at + kMessage.size();
  const std::size_t end = messages.find('\'', first);
  return end == std::string::npos ? std::string() : messages.substr(first, end - first);
}

}  // namespace

std::optional<MissingFunction> missing_function(const std::string& messages,
                                                const DiagnoseContext& context) {
  MissingFunction missing{.called = undefined_in(messages), .nearest = {}, .file = {}};
  if (missing.called.empty()) return std::nullopt;
  std::string name = missing.called.substr(0, missing.called.find('('));
  if (const std::size_t scope = name.rfind("::"); scope != std::string::npos) {
    name.erase(0, scope + 2);
  }
  std::vector<Definition> definitions;
  for (const auto& [file, text] : context.sources) add_definitions(file, text, definitions);
  std::vector<std::string> names;
  for (const Definition& definition : definitions) names.push_back(definition.name);
  missing.same_name = std::ranges::find(names, name) != names.end();
  const std::string nearest = missing.same_name ? name : similar_name(name, names);
  const auto found = std::ranges::find(definitions, nearest, &Definition::name);
  if (nearest.empty() || found == definitions.end()) return missing;
  missing.nearest = found->text;
  missing.file = found->file;
  missing.line = found->line;
  return missing;
}

}  // namespace rooflab

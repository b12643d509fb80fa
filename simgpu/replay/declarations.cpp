#include "simgpu/replay/declarations.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <map>
#include <string_view>

namespace simgpu::replay {
namespace {

using Tokens = std::vector<Token>;

/// Behind the bracket that closes the one at `open`; tokens.size() where none does.
std::size_t behind_closing(const Tokens& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    const std::string& text = tokens[i].text;
    if (text == "(" || text == "[" || text == "{") ++depth;
    if (text == ")" || text == "]" || text == "}") --depth;
    if (depth == 0) return i + 1;
  }
  return tokens.size();
}

std::optional<std::uint32_t> number(const std::string& text) {
  std::uint32_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  const bool is_whole =
      at == end || std::string_view(at, 1) == "u" || std::string_view(at, 1) == "U";
  if (error != std::errc() || !is_whole) return std::nullopt;
  return value;
}

/// A number, a constant, or products and sums of two of them.
std::optional<std::uint32_t> extent(
    const Tokens& tokens, std::size_t first, std::size_t end,
    const std::map<std::string, std::optional<std::uint32_t>>& constants) {
  const auto value = [&](const Token& token) -> std::optional<std::uint32_t> {
    if (!is_word(token)) return number(token.text);
    const auto found = constants.find(token.text);
    return found == constants.end() ? std::nullopt : found->second;
  };
  if (end == first + 1) return value(tokens[first]);
  if (end != first + 3) return std::nullopt;
  const auto a = value(tokens[first]), b = value(tokens[first + 2]);
  if (!a || !b) return std::nullopt;
  if (tokens[first + 1].text == "*") return *a * *b;
  if (tokens[first + 1].text == "+") return *a + *b;
  return std::nullopt;
}

}  // namespace

std::map<std::string, std::optional<std::uint32_t>> constants_of(const SourceTokens& source) {
  std::map<std::string, std::optional<std::uint32_t>> constants;
  const auto add = [&](const std::string& name, std::optional<std::uint32_t> value) {
    const auto [known, is_new] = constants.try_emplace(name, value);
    if (!is_new && known->second != value) known->second.reset();
  };
  for (const auto& [name, macro] : source.macros) {
    if (macro.parameters.empty() && macro.body.size() == 1) add(name, number(macro.body[0].text));
  }
  const Tokens& tokens = source.tokens;
  for (std::size_t i = 1; i + 3 < tokens.size(); ++i) {
    const bool is_constant = is_word(tokens[i]) && is_word(tokens[i - 1]) &&
                             tokens[i + 1].text == "=" && tokens[i + 3].text == ";";
    if (!is_constant) continue;
    std::size_t first = i;
    bool is_fixed = false;
    while (first > 0 && is_word(tokens[first - 1])) {
      --first;
      is_fixed = is_fixed || tokens[first].text == "constexpr" || tokens[first].text == "const";
    }
    if (is_fixed) add(tokens[i].text, number(tokens[i + 2].text));
  }
  return constants;
}

std::string plain_type(const std::vector<Token>& tokens, std::size_t first, std::size_t end) {
  constexpr std::array<std::string_view, 9> kNoise{"const",        "volatile",   "constexpr",
                                                   "__restrict__", "__restrict", "std",
                                                   "::",           "static",     "__shared__"};
  static const std::map<std::string_view, std::string_view> kTypes{
      {"int", "int"},           {"int32_t", "int"},     {"unsigned", "unsigned"},
      {"uint32_t", "unsigned"}, {"float", "float"},     {"double", "double"},
      {"long", "long"},         {"int64_t", "long"},    {"ptrdiff_t", "long"},
      {"size_t", "size_t"},     {"uint64_t", "size_t"}, {"bool", "bool"},
      {"half", "half"},         {"__half", "half"}};
  std::string type, pointer;
  for (std::size_t i = first; i < end; ++i) {
    const std::string& word = tokens[i].text;
    if (std::ranges::find(kNoise, word) != kNoise.end()) continue;
    if (word == "*") {
      pointer = "*";
      continue;
    }
    const auto known = kTypes.find(word);
    if (known == kTypes.end()) {
      // What a pointer points to may be anything.
      if (is_word(tokens[i]) && type.empty()) {
        type = "?";
        continue;
      }
      return {};
    }
    const std::string named(known->second);
    if (type.empty()) {
      type = named;
    } else if (type == "unsigned" && named == "long") {
      type = "size_t";
    } else if (!(type == "unsigned" && named == "int") && !(type == "long" && named == "long") &&
               !(type == "size_t" && named == "long") && !(type == "long" && named == "int")) {
      return {};
    }
  }
  if (type == "?" && pointer.empty()) return {};
  return type + pointer;
}

std::vector<DeclaredParameter> parameters_of(const SourceTokens& source,
                                             const std::string& kernel) {
  const Tokens& tokens = source.tokens;
  std::vector<DeclaredParameter> found;
  int functions = 0;
  for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
    if (tokens[i].text != kernel || tokens[i + 1].text != "(") continue;
    std::size_t first = i;
    while (first > 0 && tokens[first - 1].text != ";" && tokens[first - 1].text != "}" &&
           tokens[first - 1].text != "{") {
      --first;
    }
    const bool is_kernel = std::any_of(
        tokens.begin() + static_cast<long>(first), tokens.begin() + static_cast<long>(i),
        [](const Token& token) { return token.text == "__global__"; });
    const std::size_t end = behind_closing(tokens, i + 1);
    const bool has_body = end < tokens.size() && tokens[end].text == "{";
    if (!is_kernel || !has_body) continue;
    ++functions;
    found.clear();
    std::size_t begin = i + 2;
    int depth = 0;
    for (std::size_t k = i + 2; k < end; ++k) {
      const std::string& text = tokens[k].text;
      const bool ends = k + 1 == end || (text == "," && depth == 0);
      if (text == "(" || text == "<" || text == "[") ++depth;
      if ((text == ")" || text == ">" || text == "]") && k + 1 < end) --depth;
      if (!ends) continue;
      if (k > begin && is_word(tokens[k - 1])) {
        found.push_back({tokens[k - 1].text, plain_type(tokens, begin, k - 1)});
      }
      begin = k + 1;
    }
  }
  if (functions != 1) found.clear();
  return found;
}

std::uint32_t bytes_of_type(const std::string& type) {
  if (type == "bool") return 1;
  if (type == "half") return 2;
  if (type == "int" || type == "unsigned" || type == "float") return 4;
  if (type == "double" || type == "long" || type == "size_t") return 8;
  return 0;
}

std::optional<DeclaredArray> shared_array(const SourceTokens& source, const std::string& name,
                                          std::uint32_t bytes) {
  const Tokens& tokens = source.tokens;
  const auto constants = constants_of(source);
  std::optional<DeclaredArray> found;
  for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
    if (tokens[i].text != name) continue;
    std::size_t first = i;
    while (first > 0 && tokens[first - 1].text != ";" && tokens[first - 1].text != "}" &&
           tokens[first - 1].text != "{") {
      --first;
    }
    const bool is_shared = std::any_of(
        tokens.begin() + static_cast<long>(first), tokens.begin() + static_cast<long>(i),
        [](const Token& token) { return token.text == "__shared__"; });
    if (!is_shared) continue;
    // In a list of variables the type ends before the first one.
    std::size_t type_end = first;
    while (type_end < i && tokens[type_end + 1].text != "[" && tokens[type_end + 1].text != ",") {
      ++type_end;
    }
    DeclaredArray declared{.element = plain_type(tokens, first, std::min(type_end, i)),
                           .extents = {}};
    std::uint64_t elements = 1;
    bool is_known = bytes_of_type(declared.element) != 0;
    for (std::size_t k = i + 1; is_known && k < tokens.size() && tokens[k].text == "[";) {
      const std::size_t end = behind_closing(tokens, k);
      const auto size = extent(tokens, k + 1, end - 1, constants);
      is_known = size.has_value();
      declared.extents.push_back(size.value_or(0));
      elements *= size.value_or(0);
      k = end;
    }
    if (!is_known || elements * bytes_of_type(declared.element) != bytes) continue;
    const bool is_another =
        found && (found->element != declared.element || found->extents != declared.extents);
    if (is_another) return std::nullopt;
    found = declared;
  }
  return found;
}

}  // namespace simgpu::replay

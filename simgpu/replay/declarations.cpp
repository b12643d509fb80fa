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

/// Beyond all shared memory, and small enough to be multiplied.
constexpr std::int64_t kMostExtent = std::int64_t{1} << 31;

std::optional<std::uint32_t> number(const std::string& text) {
  std::uint32_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  const bool is_whole =
      at == end || std::string_view(at, 1) == "u" || std::string_view(at, 1) == "U";
  if (error != std::errc() || !is_whole) return std::nullopt;
  return value;
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

std::optional<DeclaredArray> shared_array(const std::vector<ArrayDeclaration>& declarations,
                                          const std::string& name, std::uint32_t bytes) {
  std::optional<DeclaredArray> found;
  for (const ArrayDeclaration& array : declarations) {
    const std::vector<Token> type = tokens_of(array.type).tokens;
    DeclaredArray declared{.element = plain_type(type, 0, type.size()), .extents = {}};
    std::uint64_t size = bytes_of_type(declared.element);
    for (const std::optional<std::int64_t>& dimension : array.dimensions) {
      const std::int64_t extent = std::clamp<std::int64_t>(dimension.value_or(0), 0, kMostExtent);
      declared.extents.push_back(static_cast<std::uint32_t>(extent));
      size = std::min<std::uint64_t>(size * static_cast<std::uint64_t>(extent), kMostExtent);
    }
    if (!array.is_shared || array.name != name || size == 0 || size != bytes) continue;
    const bool is_another =
        found && (found->element != declared.element || found->extents != declared.extents);
    if (is_another) return std::nullopt;
    found = declared;
  }
  return found;
}

}  // namespace simgpu::replay

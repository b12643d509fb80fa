#include "simgpu/source/array_declarations.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "simgpu/source/tokens.h"

namespace simgpu {
namespace {

using Tokens = std::vector<Token>;
using Constants = std::map<std::string, std::int64_t>;

struct Type {
  std::string_view name;
  std::uint64_t bytes;
};
constexpr std::array kTypes{
    Type{"char", 1},     Type{"bool", 1},          Type{"int8_t", 1},
    Type{"uint8_t", 1},  Type{"short", 2},         Type{"int16_t", 2},
    Type{"uint16_t", 2}, Type{"half", 2},          Type{"__half", 2},
    Type{"bf16", 2},     Type{"__nv_bfloat16", 2}, Type{"nv_bfloat16", 2},
    Type{"int", 4},      Type{"unsigned", 4},      Type{"signed", 4},
    Type{"int32_t", 4},  Type{"uint32_t", 4},      Type{"float", 4},
    Type{"half2", 4},    Type{"__half2", 4},       Type{"__nv_bfloat162", 4},
    Type{"uint", 4},     Type{"nv_bfloat162", 4},  Type{"long", 8},
    Type{"double", 8},   Type{"int64_t", 8},       Type{"uint64_t", 8},
    Type{"size_t", 8},   Type{"float2", 8},        Type{"int2", 8},
    Type{"uint2", 8},    Type{"float4", 16},       Type{"int4", 16},
    Type{"uint4", 16},   Type{"double2", 16}};

/// Of "unsigned long long" the word that counts is "long", and of "unsigned short" it is "short".
std::uint64_t bytes_of(const std::vector<std::string>& words) {
  std::uint64_t bytes = 0;
  for (const std::string& word : words) {
    const auto known = std::ranges::find(kTypes, std::string_view(word), &Type::name);
    if (known == kTypes.end()) return 0;
    const bool is_sign_alone = word == "unsigned" || word == "signed" || word == "int";
    if (bytes == 0 || !is_sign_alone) bytes = known->bytes;
  }
  return bytes;
}

std::optional<std::int64_t> integer(std::string_view text) {
  while (!text.empty() && std::string_view("uUlL").find(text.back()) != text.npos) {
    text.remove_suffix(1);
  }
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    base = 16;
  }
  std::int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Evaluates a constant expression of whole numbers, of the tokens [first, last).
class Expression {
 public:
  Expression(const Tokens& tokens, std::size_t first, std::size_t last, const Constants& constants)
      : tokens_(tokens), at_(first), last_(last), constants_(constants) {}

  std::optional<std::int64_t> value() {
    const auto result = sum(0);
    return at_ == last_ ? result : std::nullopt;
  }

 private:
  static constexpr int kDeepest = 32;
  static constexpr std::int64_t kLargest = std::int64_t{1} << 31;

  bool is(std::string_view sign) const { return at_ < last_ && tokens_[at_].text == sign; }
  static std::optional<std::int64_t> bounded(std::int64_t value) {
    return value > -kLargest && value < kLargest ? std::optional(value) : std::nullopt;
  }

  std::optional<std::int64_t> sum(int depth) {
    auto left = product(depth);
    while (left && (is("+") || is("-"))) {
      const bool adds = tokens_[at_++].text == "+";
      const auto right = product(depth);
      if (!right) return std::nullopt;
      left = bounded(adds ? *left + *right : *left - *right);
    }
    return left;
  }
  std::optional<std::int64_t> product(int depth) {
    auto left = factor(depth);
    while (left && (is("*") || is("/") || is("%"))) {
      const char sign = tokens_[at_++].text[0];
      const auto right = factor(depth);
      if (!right || (sign != '*' && *right == 0)) return std::nullopt;
      left = bounded(sign == '*' ? *left * *right : sign == '/' ? *left / *right : *left % *right);
    }
    return left;
  }
  std::optional<std::int64_t> factor(int depth) {
    if (at_ >= last_ || depth > kDeepest) return std::nullopt;
    if (is("(")) {
      ++at_;
      const auto inside = sum(depth + 1);
      if (!is(")")) return std::nullopt;
      ++at_;
      return inside;
    }
    if (is("-") || is("+")) {
      const bool negates = tokens_[at_++].text == "-";
      const auto operand = factor(depth + 1);
      return operand && negates ? std::optional(-*operand) : operand;
    }
    const Token& token = tokens_[at_++];
    if (token.kind == Token::Kind::literal) {
      const auto number = integer(token.text);
      return number ? bounded(*number) : std::nullopt;
    }
    const auto known = constants_.find(token.text);
    return known == constants_.end() ? std::nullopt : std::optional(known->second);
  }

  const Tokens& tokens_;
  std::size_t at_, last_;
  const Constants& constants_;
};

bool is_name(const Token& token) { return token.kind == Token::Kind::word; }

/// Reads one file's declarations from its start, with the constants that it has met so far.
class Reader {
 public:
  explicit Reader(std::vector<ArrayDeclaration>& found) : found_(found) {}

  void read(const std::string& file, const SourceText& text, int depth = 0) {
    constexpr int kDeepest = 4;
    const std::optional<std::string> content = text(file);
    if (!content || !read_.insert(file).second) return;
    const SourceTokens source = tokens_of(*content);
    const std::string folder = file.substr(0, file.rfind('/') + 1);
    for (const std::string& name : source.includes) {
      if (depth < kDeepest) read(folder + name, text, depth + 1);
    }
    if (source.renumbers_lines && depth == 0) return;
    own_ = depth == 0;
    note_macros(source.macros);
    for (std::size_t i = 0; i < source.tokens.size(); ++i) {
      if (begins_statement(source.tokens, i)) read_statement(source.tokens, i);
    }
  }

 private:
  static bool begins_statement(const Tokens& tokens, std::size_t i) {
    if (!is_name(tokens[i])) return false;
    if (i == 0) return true;
    const std::string& before = tokens[i - 1].text;
    return before == ";" || before == "{" || before == "}" || before == ")" || before == ">";
  }

  void note_macros(const std::map<std::string, Macro>& macros) {
    // One macro may name another, whatever their order.
    for (int pass = 0; pass < 4; ++pass) {
      for (const auto& [name, macro] : macros) {
        if (!macro.parameters.empty()) continue;
        const auto value = Expression(macro.body, 0, macro.body.size(), constants_).value();
        if (value) constants_[name] = *value;
      }
    }
  }

  static std::size_t behind(const Tokens& tokens, std::size_t i, std::string_view open,
                            std::string_view close) {
    for (std::size_t depth = 0; i < tokens.size(); ++i) {
      if (tokens[i].text == open) ++depth;
      if (tokens[i].text == close && --depth == 0) return i + 1;
    }
    return tokens.size();
  }

  /// `[static] [constexpr|const|__shared__|extern] [alignas(…)] type name …`
  void read_statement(const Tokens& tokens, std::size_t i) {
    bool is_shared = false, is_extern = false, is_constant = false;
    std::vector<std::string> words;
    for (; i < tokens.size() && is_name(tokens[i]); ++i) {
      const std::string& word = tokens[i].text;
      if (word == "__shared__") {
        is_shared = true;
      } else if (word == "extern") {
        is_extern = true;
      } else if (word == "constexpr" || word == "const") {
        is_constant = true;
      } else if (word == "enum") {
        return read_enumeration(tokens, i + 1);
      } else if (word == "alignas" || word == "__align__") {
        i = behind(tokens, i + 1, "(", ")") - 1;
      } else if (word == "static" || word == "volatile" || word == "inline" || word == "struct" ||
                 word == "typename") {
        continue;
      } else if (word == "return" || word == "using" || word == "delete" || word == "else" ||
                 word == "goto" || word == "case" || word == "template") {
        return;
      } else if (i + 2 < tokens.size() && tokens[i + 1].text == "::") {
        ++i;  // std::uint32_t, wmma::fragment
      } else {
        words.push_back(word);
      }
    }
    if (words.size() < 2) return;
    const std::string name = words.back();
    words.pop_back();
    if (i < tokens.size() && tokens[i].text == "=" && is_constant) {
      return note_constant(tokens, name, i + 1);
    }
    read_declarators(tokens, i, name, words, is_shared, is_shared && is_extern);
  }

  /// From behind the first name on: `[32][33], other[8];`
  void read_declarators(const Tokens& tokens, std::size_t i, std::string name,
                        const std::vector<std::string>& type, bool is_shared, bool is_dynamic) {
    const std::uint32_t line = i < tokens.size() ? tokens[i].line : 0;
    for (;;) {
      ArrayDeclaration array{.name = std::move(name),
                             .type = {},
                             .element_bytes = bytes_of(type),
                             .lengths = {},
                             .dimensions = {},
                             .is_shared = is_shared,
                             .is_dynamic = is_dynamic,
                             .line = own_ ? line : 0};
      for (const std::string& word : type) array.type += (array.type.empty() ? "" : " ") + word;
      while (i < tokens.size() && tokens[i].text == "[") {
        const std::size_t end = behind(tokens, i, "[", "]");
        if (end == tokens.size()) return;
        std::string length;
        for (std::size_t at = i + 1; at + 1 < end; ++at) {
          const bool is_sign = !length.empty() && tokens[at].text.size() == 1 &&
                               std::string_view("+-*/%").find(tokens[at].text) != std::string::npos;
          length += is_sign ? " " + tokens[at].text + " " : tokens[at].text;
        }
        if (!length.empty()) {
          array.lengths.push_back(std::move(length));
          array.dimensions.push_back(Expression(tokens, i + 1, end - 1, constants_).value());
        }
        i = end;
      }
      const bool ends = i < tokens.size() && (tokens[i].text == ";" || tokens[i].text == "," ||
                                              tokens[i].text == "=" || tokens[i].text == "{");
      const bool is_array = !array.lengths.empty() || is_shared;
      if (!ends) return;
      if (is_array) found_.push_back(std::move(array));
      if (tokens[i].text != "," || i + 2 >= tokens.size() || !is_name(tokens[i + 1])) return;
      name = tokens[i + 1].text;
      i += 2;
    }
  }

  void note_constant(const Tokens& tokens, const std::string& name, std::size_t first) {
    std::size_t last = first;
    int depth = 0;
    for (; last < tokens.size(); ++last) {
      const std::string& text = tokens[last].text;
      depth += (text == "(" || text == "{") ? 1 : (text == ")" || text == "}") ? -1 : 0;
      if (depth == 0 && (text == ";" || text == ",")) break;
    }
    const auto value = Expression(tokens, first, last, constants_).value();
    if (value) {
      constants_[name] = *value;
    } else {
      constants_.erase(name);
    }
    // constexpr int kRows = 8, kColumns = 4;
    if (last + 2 < tokens.size() && tokens[last].text == "," && is_name(tokens[last + 1]) &&
        tokens[last + 2].text == "=") {
      note_constant(tokens, tokens[last + 1].text, last + 3);
    }
  }

  void read_enumeration(const Tokens& tokens, std::size_t i) {
    while (i < tokens.size() && tokens[i].text != "{" && tokens[i].text != ";") ++i;
    std::int64_t next = 0;
    while (i + 1 < tokens.size() && (tokens[i].text == "{" || tokens[i].text == ",")) {
      if (!is_name(tokens[i + 1])) return;
      const std::string& name = tokens[++i].text;
      ++i;
      if (i < tokens.size() && tokens[i].text == "=") {
        const std::size_t first = ++i;
        while (i < tokens.size() && tokens[i].text != "," && tokens[i].text != "}") ++i;
        const auto value = Expression(tokens, first, i, constants_).value();
        if (!value) return;
        next = *value;
      }
      constants_[name] = next++;
    }
  }

  std::vector<ArrayDeclaration>& found_;
  std::set<std::string> read_;
  Constants constants_;
  bool own_ = true;
};

}  // namespace

std::string ArrayDeclaration::text() const {
  std::string declared = type + " " + name;
  for (const std::string& length : lengths) declared += "[" + length + "]";
  return is_dynamic ? declared + "[]" : declared;
}

std::vector<ArrayDeclaration> array_declarations(const std::string& file, const SourceText& text) {
  std::vector<ArrayDeclaration> found;
  Reader(found).read(file, text);
  return found;
}

}  // namespace simgpu

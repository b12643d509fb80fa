#include "simgpu/ptx/parser.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <utility>

#include "simgpu/ptx/constant.h"
#include "simgpu/ptx/declaration.h"
#include "simgpu/ptx/function_parser.h"
#include "simgpu/ptx/lexer.h"
#include "simgpu/ptx/source_locations.h"

namespace simgpu::ptx {
namespace {

// A sparse initialiser such as {{1}, {2}} names more bytes than it has characters: these bound how
// many.
constexpr std::uint64_t kInitialBytesPerCharacter = 16;
constexpr std::uint64_t kInitialBytesAtLeast = 1U << 20;
// Likewise one long name in .debug_str that many .loc directives point at.
constexpr std::uint64_t kNameBytesPerCharacter = 16;
constexpr std::uint64_t kHighestFileNumber = 65535;
constexpr std::size_t kLongestFileName = 4096;  // PATH_MAX: no compiler writes a longer one
constexpr std::uint64_t kLargestCount = std::numeric_limits<std::uint32_t>::max();

class ModuleParser {
 public:
  explicit ModuleParser(std::string_view text)
      : lexer_(text),
        scope_{
            .module = module_,
            .variables = {},
            .initial_bytes_left = kInitialBytesAtLeast + kInitialBytesPerCharacter * text.size()},
        name_bytes_left_(kInitialBytesAtLeast + kNameBytesPerCharacter * text.size()) {
    module_.files.assign(1, "");
  }

  Module parse() {
    if (!lexer_.peek().is_dot_word("version")) {
      lexer_.fail_expected(".version, with which every PTX module begins");
    }
    while (lexer_.peek().kind != TokenKind::end) statement();
    name_inlined_functions();
    replace_aliases();
    return std::move(module_);
  }

  std::vector<TextRange> instructions() && { return std::move(scope_.instructions); }

 private:
  struct PendingNames {
    std::uint32_t function;
    std::vector<SourceLocations::PendingName> names;
  };

  void statement() {
    if (lexer_.accept(';')) return;
    if (lexer_.peek().is('@')) return skip_line();
    if (lexer_.peek().kind != TokenKind::dot_word) lexer_.fail_expected("a directive");
    if (lexer_.peek().text == "align" || lexer_.peek().text == "attribute") {
      return declaration(Variable::Linkage::internal);
    }
    const Token word = lexer_.next();
    if (const auto linkage = linkage_named(word.text)) return declaration(*linkage);
    if (word.text == "version") return version();
    if (word.text == "target") return target();
    if (word.text == "address_size") return address_size();
    if (word.text == "file") return file();
    if (word.text == "section") return section();
    if (word.text == "alias") return alias();
    if (word.text == "pragma") return skip_pragma();
    if (word.text == "loc") return skip_location();
    declaration(Variable::Linkage::internal, word, {});
  }

  static std::optional<Variable::Linkage> linkage_named(std::string_view word) {
    if (word == "visible") return Variable::Linkage::visible;
    if (word == "extern") return Variable::Linkage::external;
    if (word == "weak") return Variable::Linkage::weak;
    if (word == "common") return Variable::Linkage::common;
    return std::nullopt;
  }

  void declaration(Variable::Linkage linkage) {
    const DeclarationHead leading = parse_leading_attributes(lexer_);
    declaration(linkage, lexer_.next(), leading);
  }

  void declaration(Variable::Linkage linkage, const Token& word, const DeclarationHead& leading) {
    const bool is_directive = word.kind == TokenKind::dot_word;
    if (is_directive && (word.text == "entry" || word.text == "func")) {
      return function(word.text == "entry");
    }
    if (is_directive && word.text == "tex") {
      return module_variables(Space::global, linkage, leading);
    }
    if (const auto space = space_named(word.text); is_directive && space) {
      return module_variables(*space, linkage, leading);
    }
    lexer_.fail_at(word,
                   fmt::format("expected a directive such as .entry, .func or .global, found '{}'",
                               printable_word(word)));
  }

  static std::string printable_word(const Token& word) {
    if (word.kind != TokenKind::dot_word && word.kind != TokenKind::identifier)
      return "something else";
    return fmt::format("{}{}", word.kind == TokenKind::dot_word ? "." : "",
                       word.text.substr(0, 40));
  }

  /// DWARF lines of early PTX: @@DWARF …
  void skip_line() {
    const std::uint32_t line = lexer_.peek().line;
    while (lexer_.peek().kind != TokenKind::end && lexer_.peek().line == line) lexer_.next();
  }

  void version() {
    const Token number = lexer_.next();
    const std::size_t dot = number.text.find('.');
    int major = 0;
    int minor = 0;
    const auto parse_part = [](std::string_view digits, int& part) {
      const auto [end, error] = std::from_chars(digits.begin(), digits.end(), part);
      return error == std::errc() && end == digits.end();
    };
    if (number.kind != TokenKind::floating || dot == std::string_view::npos ||
        !parse_part(number.text.substr(0, dot), major) ||
        !parse_part(number.text.substr(dot + 1), minor)) {
      lexer_.fail_at(number, "expected a version such as 9.0 after .version");
    }
    module_.version_major = major;
    module_.version_minor = minor;
  }

  void target() {
    do {
      const Token name = lexer_.expect_identifier("a target such as sm_80");
      if (module_.target.empty()) module_.target = name.text;
    } while (lexer_.accept(','));
  }

  void address_size() {
    const Token at = lexer_.peek();
    const std::uint64_t bits = parse_count(lexer_, "an address size", 64);
    if (bits != 32 && bits != 64) {
      lexer_.fail_at(at, fmt::format("expected an address size of 32 or 64 bits, found {}", bits));
    }
    module_.address_size = static_cast<unsigned>(bits);
  }

  /// `.file 1 "a.cu"`, perhaps with a time stamp and a size.
  void file() {
    const std::uint64_t number = parse_count(lexer_, "a file number", kHighestFileNumber);
    const Token name = lexer_.peek();
    if (name.kind != TokenKind::string) lexer_.fail_expected("a file name in quotes");
    if (name.text.size() > kLongestFileName) {
      lexer_.fail_at(name, fmt::format("expected a file name of at most {} bytes, found {}",
                                       kLongestFileName, name.text.size()));
    }
    if (module_.files.size() <= number) module_.files.resize(number + 1);
    module_.files[number] = lexer_.next().text;
    while (lexer_.accept(',')) parse_count(lexer_, "a time stamp or size", kNoLimit);
  }

  void skip_pragma() {
    do {
      if (lexer_.peek().kind != TokenKind::string) lexer_.fail_expected("a string after .pragma");
      lexer_.next();
    } while (lexer_.accept(','));
    lexer_.accept(';');
  }

  /// A .loc outside of a function places no instruction.
  void skip_location() {
    Function nowhere;
    SourceLocations(nowhere).parse(lexer_);
  }

  /// `.section .debug_str { … }`. Other sections describe the machine code's layout, which is not
  /// ours.
  void section() {
    const Token name = lexer_.next();
    if (name.kind != TokenKind::dot_word && name.kind != TokenKind::identifier &&
        name.kind != TokenKind::string) {
      lexer_.fail_at(name, "expected the name of a section after .section");
    }
    const bool is_strings = name.text == "debug_str" || name.text == ".debug_str";
    const Token opening = lexer_.expect('{', "before the contents of a section");
    if (is_strings) strings_.add_label(name.text);
    std::string_view element;
    while (!lexer_.peek().is('}')) {
      const Token token = lexer_.next();
      if (token.kind == TokenKind::end) {
        lexer_.fail_at(token, fmt::format("expected '}}' to end the section that begins in line {}",
                                          opening.line));
      }
      if (!is_strings) continue;
      if (token.kind == TokenKind::identifier && lexer_.peek().is(':'))
        strings_.add_label(token.text);
      if (token.kind == TokenKind::dot_word) element = token.text;
      if (token.kind == TokenKind::integer && element == "b8") {
        std::uint8_t byte = 0;
        std::from_chars(token.text.begin(), token.text.end(), byte);
        strings_.add_byte(static_cast<char>(byte));
      }
    }
    lexer_.next();
  }

  void alias() {
    const Token name = lexer_.expect_identifier("the new name of a function");
    lexer_.expect(',', "after the new name");
    const Token function = lexer_.expect_identifier("the function that the alias stands for");
    lexer_.expect(';', "after .alias");
    aliases_[std::string(name.text)] = function.text;
  }

  void module_variables(Space space, Variable::Linkage linkage, const DeclarationHead& leading) {
    if (space == Space::param || space == Space::local) {
      lexer_.fail_at(lexer_.peek(), "expected .global, .const or .shared outside of a function");
    }
    const DeclarationHead head = parse_declaration_head(lexer_, space, linkage, leading);
    parse_variables(
        lexer_, head, scope_.initial_bytes_left,
        [this](const Token& name, Variable variable) { add_variable(name, std::move(variable)); });
  }

  /// An extern declaration may be repeated, and be followed by the definition.
  void add_variable(const Token& name, Variable variable) {
    const auto index = static_cast<std::uint32_t>(module_.variables.size());
    const auto [entry, is_new] = scope_.variables.try_emplace(variable.name, index);
    if (is_new) {
      module_.variables.push_back(std::move(variable));
      return;
    }
    Variable& earlier = module_.variables[entry->second];
    if (variable.linkage == Variable::Linkage::external) return;
    if (earlier.linkage != Variable::Linkage::external) {
      lexer_.fail_at(name, fmt::format("expected a new name: '{}' is declared already",
                                       name.text.substr(0, 80)));
    }
    earlier = std::move(variable);
  }

  void function(bool is_entry) {
    Function function;
    function.is_entry = is_entry;
    skip_function_attributes();
    if (!is_entry && lexer_.peek().is('(')) function.return_values = parse_parameters(lexer_);
    skip_function_attributes();
    const Token name =
        lexer_.expect_identifier(is_entry ? "the kernel's name" : "the function's name");
    function.name = name.text;
    if (lexer_.peek().is('(')) function.parameters = parse_parameters(lexer_);
    const bool ended_by_pragma = function_directives(function);
    function.is_declaration = !lexer_.peek().is('{');
    PendingNames pending;
    if (!function.is_declaration) {
      pending.names = parse_body(lexer_, scope_, function);
    } else if (!ended_by_pragma) {
      lexer_.expect(';', "or '{' after the head of a function");
    }
    pending.function = add_function(name, std::move(function));
    if (!pending.names.empty()) pending_names_.push_back(std::move(pending));
  }

  void skip_function_attributes() {
    while (lexer_.accept_dot_word("attribute")) {
      lexer_.expect('(', "after .attribute");
      std::size_t depth = 1;
      while (depth > 0) {
        const Token token = lexer_.next();
        if (token.kind == TokenKind::end) lexer_.fail_at(token, "expected ')' after .attribute");
        depth += token.is('(');
        depth -= token.is(')');
      }
    }
  }

  /// The directives between a function's head and its body. @return whether the last was a .pragma,
  /// whose
  /// ';' can be taken for the end of a declaration.
  bool function_directives(Function& function) {
    bool ended_by_pragma = false;
    while (lexer_.peek().kind == TokenKind::dot_word) {
      const Token word = lexer_.next();
      ended_by_pragma = word.text == "pragma";
      if (word.text == "pragma") {
        skip_pragma();
      } else if (word.text == "loc") {
        skip_location();
      } else {
        const std::vector<std::uint32_t> values = directive_values();
        store_directive(word, values, function);
      }
    }
    return ended_by_pragma;
  }

  std::vector<std::uint32_t> directive_values() {
    std::vector<std::uint32_t> values;
    if (!at_constant(lexer_)) return values;
    do {
      const auto value = parse_count(lexer_, "a count", kLargestCount);
      values.push_back(static_cast<std::uint32_t>(value));
    } while (lexer_.accept(','));
    return values;
  }

  void store_directive(const Token& word, const std::vector<std::uint32_t>& values,
                       Function& function) {
    const bool is_maximum = word.text == "maxntid";
    if (is_maximum || word.text == "reqntid") {
      if (values.empty() || values.size() > 3) {
        lexer_.fail_at(
            word, fmt::format("expected one to three numbers of threads after .{}", word.text));
      }
      auto& threads = is_maximum ? function.max_threads : function.required_threads;
      threads = {1, 1, 1};
      for (std::size_t axis = 0; axis < values.size(); ++axis) threads.at(axis) = values[axis];
    } else if (word.text == "minnctapersm") {
      if (values.size() != 1)
        lexer_.fail_at(word, "expected one number of blocks after .minnctapersm");
      function.min_blocks_per_sm = values.front();
    } else if (word.text == "reqnctapercluster") {
      if (values.empty() || values.size() > 3) {
        lexer_.fail_at(word, "expected one to three numbers of blocks after .reqnctapercluster");
      }
      constexpr std::uint64_t kMost = 1U << 20;  // of each axis, so that the product fits
      function.cluster_blocks = 1;
      for (const std::uint64_t value : values)
        function.cluster_blocks *= value < kMost ? value : kMost;
    }
  }

  /// A prototype is followed by the definition, which takes its place.
  std::uint32_t add_function(const Token& name, Function function) {
    const auto index = static_cast<std::uint32_t>(module_.functions.size());
    const auto [entry, is_new] = functions_.try_emplace(function.name, index);
    if (is_new) {
      module_.functions.push_back(std::move(function));
      return index;
    }
    Function& earlier = module_.functions[entry->second];
    if (!function.is_declaration) {
      if (!earlier.is_declaration) {
        lexer_.fail_at(name, fmt::format("expected a new name: '{}' is defined already",
                                         name.text.substr(0, 80)));
      }
      earlier = std::move(function);
    }
    return entry->second;
  }

  void name_inlined_functions() {
    for (const PendingNames& pending : pending_names_) {
      std::vector<SourceLocation>& locations = module_.functions[pending.function].locations;
      for (const auto& waiting : pending.names) {
        const std::string_view name = strings_.at(waiting.label, waiting.offset);
        if (name.size() > name_bytes_left_) return;
        name_bytes_left_ -= name.size();
        locations[waiting.location].function = name;
      }
    }
    for (Function& function : module_.functions) {
      for (SourceLocation& location : function.locations) {
        if (location.file >= module_.files.size()) location.file = 0;
      }
    }
  }

  void replace_alias(std::string& name) const {
    const auto found = aliases_.find(name);
    if (found != aliases_.end()) name = found->second;
  }

  void replace_aliases() {
    if (aliases_.empty()) return;
    for (Variable& variable : module_.variables) {
      for (Relocation& relocation : variable.relocations) replace_alias(relocation.symbol);
    }
    for (Function& function : module_.functions) {
      for (auto& [table, targets] : function.call_targets) {
        for (std::string& target : targets) replace_alias(target);
      }
      for (Instruction& instruction : function.body) {
        for (Operand& operand : instruction.operands) {
          for (Scalar& element : operand.elements) {
            if (auto* symbol = std::get_if<Symbol>(&element)) replace_alias(symbol->name);
          }
        }
      }
    }
  }

  static constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

  Module module_;
  Lexer lexer_;
  ModuleScope scope_;
  std::uint64_t name_bytes_left_;
  DebugStrings strings_;
  std::unordered_map<std::string, std::uint32_t> functions_;  ///< name to index
  std::unordered_map<std::string, std::string> aliases_;
  std::vector<PendingNames> pending_names_;
};

}  // namespace

ParseError::ParseError(std::uint32_t line, std::uint32_t column, const std::string& message)
    : std::runtime_error(fmt::format("{}:{}: {}", line, column, message)),
      line_(line),
      column_(column) {}

Module parse(std::string_view text) { return ModuleParser(text).parse(); }

ParsedText parse_text(std::string_view text) {
  ModuleParser parser(text);
  Module module = parser.parse();
  return {std::move(module), std::move(parser).instructions()};
}

}  // namespace simgpu::ptx

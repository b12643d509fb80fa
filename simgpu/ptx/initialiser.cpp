#include "simgpu/ptx/initialiser.h"

#include <fmt/format.h>

#include <bit>
#include <limits>
#include <vector>

#include "simgpu/ptx/constant.h"

namespace simgpu::ptx {
namespace {

constexpr std::uint64_t kNoEnd = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kFarthest = std::uint64_t{1} << 61;  // sums of offsets below do not wrap
constexpr unsigned kAddressBytes = 8;

bool is_float_type(Type type) { return type == Type::f32 || type == Type::f64; }
bool is_untyped(Type type) { return type == Type::b32 || type == Type::b64 || type == Type::b128; }

/// Writes values one after the other into the nested braces of an array. Keeps the braces in a
/// vector, not on the stack, as the text decides how many there are.
class InitialiserParser {
 public:
  InitialiserParser(Lexer& lexer, Variable& variable, std::uint64_t& bytes_left)
      : lexer_(lexer), variable_(variable), bytes_left_(bytes_left) {
    extents_ = variable.dimensions;
    if (variable.vector > 1) extents_.push_back(variable.vector);
    // strides_[d]: bytes of what one brace (or value) at nesting depth d spans.
    strides_.assign(extents_.size() + 1, size_of(variable.type));
    for (std::size_t depth = extents_.size(); depth-- > 0;) {
      const std::uint64_t extent = extents_[depth];
      const bool overflows = __builtin_mul_overflow(strides_[depth + 1], extent, &strides_[depth]);
      if (overflows) lexer.fail_at(lexer.peek(), "expected an array of fewer than 2^64 bytes");
    }
  }

  void parse() {
    if (!lexer_.peek().is('{')) {
      if (!extents_.empty()) lexer_.fail_expected("'{' before the values of an array");
      value();
      return;
    }
    do {
      if (lexer_.peek().is('{')) {
        open();
      } else {
        value();
      }
      close_and_separate();
    } while (!braces_.empty());
    give_length();
  }

 private:
  struct Brace {
    std::uint64_t begin;
    std::uint64_t end;
  };

  void open() {
    const std::size_t depth = braces_.size();
    // A scalar may stand in one pair of braces.
    if (depth > extents_.size() || (depth == extents_.size() && !extents_.empty())) {
      lexer_.fail_at(
          lexer_.peek(),
          fmt::format("expected a value: {} nested braces are one more than '{}' has dimensions",
                      depth + 1, variable_.name.substr(0, 80)));
    }
    check_room(strides_[depth]);
    if (cursor_ > kFarthest || strides_[depth] > kFarthest) fail_too_far();
    const bool unsized = depth == 0 && !extents_.empty() && extents_.front() == 0;
    braces_.push_back({cursor_, unsized ? kNoEnd : cursor_ + strides_[depth]});
    lexer_.next();
  }

  /// After a value or an opening brace: closing braces, then the comma before what comes next.
  void close_and_separate() {
    const bool just_opened = !braces_.empty() && !value_read_;
    value_read_ = false;
    if (just_opened && !lexer_.peek().is('}')) return;
    while (!braces_.empty()) {
      if (lexer_.accept('}')) {
        if (braces_.back().end != kNoEnd) cursor_ = braces_.back().end;
        braces_.pop_back();
      } else if (lexer_.accept(',')) {
        if (!lexer_.peek().is('}')) return;
      } else {
        lexer_.fail_expected("',' or '}' after a value");
      }
    }
  }

  void check_room(std::uint64_t bytes) const {
    const std::uint64_t end = braces_.empty() ? kNoEnd : braces_.back().end;
    if (end != kNoEnd && (cursor_ > end || bytes > end - cursor_)) {
      lexer_.fail_at(lexer_.peek(), fmt::format("expected '}}': '{}' has no room for more values",
                                                variable_.name.substr(0, 80)));
    }
  }

  void value() {
    const unsigned width = size_of(variable_.type);
    check_room(width);
    const Token at = lexer_.peek();
    const bool masked = at.kind == TokenKind::integer && lexer_.peek_second().is('(');
    if (masked) {
      masked_address();
    } else if (at.kind == TokenKind::identifier && at.text != "WARP_SZ") {
      address(width);
    } else {
      store(parse_constant(lexer_), at);
    }
    cursor_ += width;
    value_read_ = true;
  }

  /// sym, sym+4, generic(sym) or generic(sym)+4.
  Relocation parse_address() {
    Relocation relocation;
    relocation.byte_offset = cursor_;
    const Token name = lexer_.expect_identifier("a symbol");
    relocation.symbol = name.text;
    if (name.text == "generic" && lexer_.accept('(')) {
      relocation.generic = true;
      relocation.symbol = lexer_.expect_identifier("a symbol in generic()").text;
      relocation.addend = parse_addend();
      lexer_.expect(')', "after the symbol of generic()");
    }
    relocation.addend += parse_addend();
    return relocation;
  }

  /// `+4*3`: a constant expression that begins with its sign.
  std::int64_t parse_addend() {
    if (!lexer_.peek().is('+') && !lexer_.peek().is('-')) return 0;
    return parse_integer(lexer_, "a whole number of bytes");
  }

  void address(unsigned width) {
    const Token at = lexer_.peek();
    Relocation relocation = parse_address();
    if (width != 4 && width != kAddressBytes) {
      lexer_.fail_at(at, "expected a number: an address needs an element of 4 or 8 bytes");
    }
    relocation.width = width;
    reserve(width);
    variable_.relocations.push_back(std::move(relocation));
  }

  /// 0xFF00(sym): the byte of the address that the mask selects.
  void masked_address() {
    const Token at = lexer_.peek();
    const std::uint64_t mask = parse_constant_mask();
    lexer_.expect('(', "after the mask of an address");
    Relocation relocation = parse_address();
    lexer_.expect(')', "after a masked address");
    const unsigned shift = mask == 0 ? 64 : static_cast<unsigned>(std::countr_zero(mask));
    const bool is_float = is_float_type(variable_.type);
    if (shift % 8 != 0 || mask != std::uint64_t{0xFF} << (shift % 64) || is_float) {
      lexer_.fail_at(at, "expected a mask of one byte, such as 0xFF00, in an integer variable");
    }
    relocation.width = 1;
    relocation.shift = shift;
    reserve(size_of(variable_.type));
    variable_.relocations.push_back(std::move(relocation));
    join_address_bytes();
  }

  std::uint64_t parse_constant_mask() {
    const Token at = lexer_.peek();
    const Constant mask = parse_constant_factor(lexer_);
    if (mask.is_float) lexer_.fail_at(at, "expected an integer mask");
    return mask.bits;
  }

  /// Eight masked bytes that together are one address become a single relocation.
  void join_address_bytes() {
    std::vector<Relocation>& all = variable_.relocations;
    if (all.size() < kAddressBytes || all.back().shift != 8 * (kAddressBytes - 1)) return;
    const std::size_t first = all.size() - kAddressBytes;
    for (unsigned byte = 0; byte < kAddressBytes; ++byte) {
      const Relocation& part = all[first + byte];
      const bool fits = part.width == 1 && part.shift == 8 * byte &&
                        part.byte_offset == all[first].byte_offset + byte &&
                        part.symbol == all[first].symbol && part.addend == all[first].addend &&
                        part.generic == all[first].generic;
      if (!fits) return;
    }
    all.resize(first + 1);
    all.back().width = kAddressBytes;
  }

  /// Makes initial_bytes reach past the next `width` bytes.
  void reserve(unsigned width) {
    if (cursor_ > kFarthest) fail_too_far();
    const std::uint64_t needed = cursor_ + width - variable_.initial_bytes.size();
    if (needed > bytes_left_) fail_too_far();
    bytes_left_ -= needed;
    variable_.initial_bytes.resize(cursor_ + width);
  }

  [[noreturn]] void fail_too_far() const {
    lexer_.fail_at(lexer_.peek(), "expected initial values without wide gaps between them");
  }

  void store(const Constant& constant, const Token& at) {
    const unsigned width = size_of(variable_.type);
    reserve(width);
    std::uint64_t bits = constant.bits;
    if (is_float_type(variable_.type) || (constant.is_float && is_untyped(variable_.type))) {
      const double real = constant.as_double();
      // The assembler copies the bits of 0f literals, into 64-bit elements too.
      bits = constant.is_single ? constant.bits
             : width == 4       ? std::bit_cast<std::uint32_t>(static_cast<float>(real))
                                : std::bit_cast<std::uint64_t>(real);
    } else if (constant.is_float) {
      const bool is_half = variable_.type == Type::f16 || variable_.type == Type::bf16 ||
                           variable_.type == Type::f16x2 || variable_.type == Type::bf16x2;
      lexer_.fail_at(
          at, fmt::format(
                  "expected an integer for an element of type .{}{}", name_of(variable_.type),
                  is_half ? ": PTX has no initial values of 16-bit floats but their bits" : ""));
    }
    for (unsigned byte = 0; byte < width && byte < 8; ++byte) {
      variable_.initial_bytes[cursor_ + byte] = static_cast<std::uint8_t>(bits >> (8 * byte));
    }
  }

  /// `name[] = {…}`: as many elements as there are values.
  void give_length() {
    if (variable_.dimensions.empty() || variable_.dimensions.front() != 0) return;
    const std::uint64_t element = strides_[1];
    if (element != 0) variable_.dimensions.front() = (cursor_ + element - 1) / element;
  }

  Lexer& lexer_;
  Variable& variable_;
  std::uint64_t& bytes_left_;
  std::vector<std::uint64_t> extents_;
  std::vector<std::uint64_t> strides_;
  std::vector<Brace> braces_;
  std::uint64_t cursor_ = 0;
  bool value_read_ = false;
};

}  // namespace

void parse_initialiser(Lexer& lexer, Variable& variable, std::uint64_t& bytes_left) {
  InitialiserParser(lexer, variable, bytes_left).parse();
}

}  // namespace simgpu::ptx

#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

/// Texts and files that have a grammar's structure, made of a fuzzer's bytes: what changes of bytes
/// find only after hours. A generator asks for one choice after the other; where the bytes end,
/// each choice is the first one, which ends every repetition.
namespace simgpu::fuzzing {

/// A fuzzer's bytes as a list of choices.
class Choices {
 public:
  explicit Choices(std::string_view bytes) : bytes_(bytes) {}

  bool is_empty() const { return bytes_.empty(); }
  std::string_view rest() const { return bytes_; }

  /// A number below `count`, which is not 0.
  std::size_t below(std::size_t count) { return byte() % count; }
  bool coin() { return (byte() & 1U) != 0; }
  /// Once in `count` times, never when the bytes are at their end.
  bool rarely(std::size_t count) { return byte() % count == count - 1; }

  std::string_view of(std::span<const std::string_view> words) {
    return words[below(words.size())];
  }
  std::string_view of(std::initializer_list<std::string_view> words) {
    return words.begin()[below(words.size())];
  }

  /// Mostly small; now and then up to `most`, which stands for "very many".
  std::size_t count(std::size_t most) {
    const std::uint8_t chosen = byte();
    if (chosen < 240) return chosen % 4;
    return most >> (255 - chosen);
  }
  std::uint64_t number(std::size_t bytes = 8) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | byte();
    return value;
  }
  /// The bytes themselves.
  std::string raw(std::size_t most) {
    const std::string_view taken = bytes_.substr(0, below(most + 1));
    bytes_.remove_prefix(taken.size());
    return std::string(taken);
  }

 private:
  std::uint8_t byte() {
    if (bytes_.empty()) return 0;
    const auto first = static_cast<std::uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return first;
  }

  std::string_view bytes_;
};

inline std::string repeated(std::string_view piece, std::size_t times) {
  std::string text;
  text.reserve(piece.size() * times);
  for (std::size_t i = 0; i < times; ++i) text += piece;
  return text;
}

/// A piece of text that readers of all kinds stumble over: what separates and quotes, escapes,
/// controls, what is no UTF-8, and marks that are not seen.
inline std::string awkward_text(Choices& choices, std::size_t longest = 1U << 14) {
  static constexpr std::string_view kPieces[] = {"a",
                                                 "x y",
                                                 "\"",
                                                 "'",
                                                 "\\",
                                                 "\n",
                                                 "\r\n",
                                                 "\t",
                                                 ",",
                                                 ";",
                                                 "=",
                                                 "+1",
                                                 "@",
                                                 "#",
                                                 "[",
                                                 "]",
                                                 "{",
                                                 "}",
                                                 ".",
                                                 "..",
                                                 "/",
                                                 "-",
                                                 "<b>",
                                                 "&amp;",
                                                 "\x1b[2J",
                                                 "\x7f",
                                                 "\xff",
                                                 "\xc3",
                                                 "\xed\xa0\x80",
                                                 "\u202e",
                                                 "\ufeff",
                                                 "\uff1d",
                                                 "\u00e9",
                                                 "e\u0301",
                                                 "\u3000",
                                                 "1e999",
                                                 "0x",
                                                 "NaN",
                                                 "\\u0000",
                                                 "\u2028"};
  std::string text;
  for (std::size_t left = choices.below(6); left > 0; --left) {
    if (choices.rarely(32)) text += '\0';
    text += repeated(choices.of(std::span<const std::string_view>(kPieces)),
                     choices.count(longest) + 1);
    if (text.size() > longest) text.resize(longest);
  }
  return text;
}

}  // namespace simgpu::fuzzing

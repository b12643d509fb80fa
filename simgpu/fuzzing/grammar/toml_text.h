#pragma once

#include <span>
#include <string>
#include <string_view>

#include "simgpu/fuzzing/grammar/choices.h"

namespace simgpu::fuzzing {

/// Texts that are TOML 1.0, or nearly.
class TomlText {
 public:
  /// @param keys that the reader knows, among which most lines choose
  TomlText(Choices& choices, std::span<const std::string_view> keys)
      : choices_(choices), keys_(keys) {}

  std::string text() {
    std::string text = choices_.rarely(16) ? "\xEF\xBB\xBF" : "";
    while (!choices_.is_empty() && text.size() < kLongest) text += line() + end_of_line();
    return text;
  }

  std::string value(std::size_t depth = 0) {
    switch (choices_.below(12)) {
      case 0:
        return std::string(choices_.of({"1", "-17", "0", "+5", "1_000", "0xdead_beef", "0o755",
                                        "0b1", "9223372036854775808", "01", "1__0", "_1"}));
      case 1:
        return std::string(choices_.of({"59.5", "6.02e23", "-0.0", "inf", "-nan", "1e400", "1.",
                                        ".5", "1e", "0x1p3", "1_0.0_1", "3e-400"}));
      case 2:
        return std::string(choices_.of({"true", "false", "True", "yes"}));
      case 3:
        return std::string(choices_.of(
            {"1979-05-27T07:32:00Z", "1979-05-27 07:32:00.999999999-07:00", "1979-05-27",
             "07:32:00", "2023-02-30", "0000-00-00T24:61:61Z", "9999-12-31T23:59:60+23:59"}));
      case 4:
        return "'" + awkward_text(choices_) + "'";
      case 5:
        return "\"\"\"" + awkward_text(choices_) + repeated("\"", choices_.below(7));
      case 6:
        return "'''" + awkward_text(choices_) + "'''";
      case 7:
        return array(depth);
      case 8:
        return inline_table(depth);
      case 9:
        return repeated(choices_.of({"9", "[", "{a=", "\"", "-", "0.", "["}),
                        choices_.count(1U << 15) + 1);
      default:
        return quoted();
    }
  }

 private:
  static constexpr std::size_t kLongest = 1U << 16;
  static constexpr std::size_t kDeepest = 80;

  std::string end_of_line() {
    return std::string(choices_.of({"\n", "\n", "\r\n", " # comment\n", "\r", " ", "\n\n"}));
  }

  std::string line() {
    switch (choices_.below(10)) {
      case 0:
        return "# " + awkward_text(choices_, 256);
      case 1:
        return "[" + key() + "]";
      case 2:
        return "[[" + key() + "]]";
      case 3:
        return awkward_text(choices_, 256);
      default:
        return key() + std::string(choices_.of({" = ", "=", " =\t", " : ", "\n= "})) + value();
    }
  }

  std::string key() {
    std::string key = simple_key();
    for (std::size_t parts = choices_.count(1U << 12); parts > 0 && key.size() < kLongest;
         --parts) {
      key += choices_.rarely(16) ? " . " : ".";
      key += choices_.coin() ? "a" : simple_key();
    }
    return key;
  }

  std::string simple_key() {
    switch (choices_.below(8)) {
      case 0:
        return quoted();
      case 1:
        return "'" + awkward_text(choices_, 64) + "'";
      case 2:
        return std::string(choices_.of({"a", "1", "-", "\"\"", "''", "true", "inf", "\u00e9", ""}));
      default:
        return std::string(keys_.empty() ? "key" : choices_.of(keys_));
    }
  }

  std::string quoted() {
    std::string text = "\"";
    for (std::size_t left = choices_.below(4); left > 0; --left) {
      text +=
          choices_.of({"memory", "compute", " ", "\\n", "\\\"", "\\\\", "\\u00e9", "\\U0001F600",
                       "\\ud800", "\\x41", "\\e", "\\", "\t", "\x01", "\xc3\x28"});
    }
    return text + (choices_.rarely(8) ? "" : "\"");
  }

  std::string array(std::size_t depth) {
    std::string text = "[";
    if (depth < kDeepest) {
      for (std::size_t left = choices_.below(4); left > 0; --left) {
        text += value(depth + 1) + std::string(choices_.of({", ", ",\n", " # c\n,", " "}));
      }
    }
    return text + (choices_.rarely(8) ? "" : "]");
  }

  std::string inline_table(std::size_t depth) {
    std::string text = "{ ";
    if (depth < kDeepest) {
      for (std::size_t left = choices_.below(4); left > 0; --left) {
        text +=
            simple_key() + " = " + value(depth + 1) + std::string(choices_.of({", ", " ", ",\n"}));
      }
    }
    return text + (choices_.rarely(8) ? "" : "}");
  }

  Choices& choices_;
  std::span<const std::string_view> keys_;
};

}  // namespace simgpu::fuzzing

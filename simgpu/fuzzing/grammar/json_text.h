#pragma once

#include <span>
#include <string>
#include <string_view>

#include "simgpu/fuzzing/grammar/choices.h"

namespace simgpu::fuzzing {

/// Texts that are JSON (RFC 8259), or nearly.
class JsonText {
 public:
  /// @param keys that the reader knows, among which most members choose
  JsonText(Choices& choices, std::span<const std::string_view> keys)
      : choices_(choices), keys_(keys) {}

  std::string value(std::size_t depth = 0) {
    switch (choices_.below(12)) {
      case 0:
        return std::string(choices_.of({"null", "true", "false", "nul", "NaN", "Infinity"}));
      case 1:
        return std::string(choices_.of({"0", "-1", "1e3", "18446744073709551615",
                                        "-9223372036854775808", "99999999999999999999", "1e999",
                                        "-0.0", "01", "1.", "2.2250738585072011e-308"}));
      case 2:
        return list(depth);
      case 3:
        return repeated(choices_.of({"[", "{\"a\":", "9", "[1,", "\""}),
                        choices_.count(1U << 16) + 1);
      case 4:
      case 5:
      case 6:
        return object(depth);
      default:
        return text();
    }
  }

  /// An object of the known keys, each with a value of any kind.
  std::string object(std::size_t depth = 0) {
    std::string text = "{";
    if (depth < kDeepest) {
      for (std::size_t left = choices_.below(9); left > 0; --left) {
        text += key() + ":" + value(depth + 1) + (left > 1 || choices_.rarely(16) ? "," : "");
      }
    }
    return text + (choices_.rarely(16) ? "" : "}");
  }

  /// A document of which one value in a row of places is another.
  std::string changed(std::string document) {
    for (std::size_t left = choices_.below(4) + 1; left > 0; --left) {
      std::size_t at = document.empty() ? 0 : choices_.number(3) % document.size();
      at = document.find_first_of(":[,", at);
      if (at == std::string::npos) continue;
      std::size_t end = document.find_first_of(",]}", at + 1);
      if (end == std::string::npos) end = document.size();
      document.replace(at + 1, end - at - 1, value());
    }
    return document;
  }

 private:
  static constexpr std::size_t kDeepest = 80;

  std::string key() {
    if (choices_.rarely(8) || keys_.empty()) return text();
    return "\"" + std::string(choices_.of(keys_)) + "\"";
  }

  std::string text() {
    std::string text = "\"";
    for (std::size_t left = choices_.below(4); left > 0; --left) {
      text += choices_.of({"returned", "exception", "a", "\\n", "\\\"", "\\u0000", "\\ud83d\\ude00",
                           "\\ud800", "\\x", "\xff", "\x01", "RL0301", "pass", "0x1"});
      if (choices_.rarely(32)) text += repeated("long", choices_.count(1U << 16));
    }
    return text + (choices_.rarely(16) ? "" : "\"");
  }

  std::string list(std::size_t depth) {
    std::string text = "[";
    if (depth < kDeepest) {
      for (std::size_t left = choices_.below(4); left > 0; --left) {
        text += value(depth + 1) + (left > 1 ? "," : "");
      }
    }
    return text + (choices_.rarely(16) ? "" : "]");
  }

  Choices& choices_;
  std::span<const std::string_view> keys_;
};

}  // namespace simgpu::fuzzing

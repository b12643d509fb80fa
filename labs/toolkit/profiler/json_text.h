#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rooflab {

/// Writes JSON as text, for what is linked with every program and so has no library for it. Texts
/// may hold any bytes: what is not UTF-8 becomes U+FFFD. Numbers that JSON lacks (infinite, not a
/// number) become 0.
class JsonText {
 public:
  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }

  void key(std::string_view name) {
    separate();
    quote(name);
    text_ += ':';
    after_key_ = true;
  }

  void value(std::string_view text) {
    separate();
    quote(text);
  }
  void value(const char* text) { value(std::string_view(text)); }
  void value(double number);
  template <std::integral Integer>
  void value(Integer number) {
    separate();
    text_ += std::to_string(number);
  }
  void value(const std::array<std::uint32_t, 3>& numbers) {
    begin_array();
    for (const std::uint32_t number : numbers) value(number);
    end_array();
  }

  template <typename Value>
  void member(std::string_view name, const Value& what) {
    key(name);
    value(what);
  }
  void member(std::string_view name, const std::string& what) {
    key(name);
    value(std::string_view(what));
  }
  /// Whole nanoseconds >= 0, as microseconds with three decimals.
  void time(std::string_view name, std::int64_t nanoseconds);

  std::string take() { return std::move(text_); }

 private:
  void open(char bracket) {
    separate();
    text_ += bracket;
    first_ = true;
  }
  void close(char bracket) {
    text_ += bracket;
    first_ = false;
  }
  /// The comma before a value or a key that is not the first; a line of its own for each object.
  void separate() {
    if (after_key_) {
      after_key_ = false;
      return;
    }
    if (!first_ && !text_.empty()) text_ += ',';
    first_ = false;
  }
  void quote(std::string_view text);

  std::string text_;
  bool first_ = true;
  bool after_key_ = false;
};

}  // namespace rooflab

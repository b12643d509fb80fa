#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "grader/review/review_frame.h"
#include "grader/review/web_values.h"

/// What addresses and forms bring along, read.
namespace rooflab {

/// Nothing of that name is here: an address that is old, or was made by hand.
class NotFound : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <typename Number>
std::optional<Number> number_of(const std::string& text) {
  Number number = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

inline bool has(const ReviewFields& fields, const char* name) {
  return !value_of(fields, name).empty();
}

/// Takes a number that only our own forms send.
inline std::int64_t number_of_form(const ReviewFields& form, const char* name) {
  const auto number = number_of<std::int64_t>(value_of(form, name));
  if (!number) throw FormError("the form is incomplete; load the page again");
  return *number;
}

/// A text that may not be left out. @throws FormError saying `what` is missing
inline std::string required(const ReviewFields& form, const char* name, const char* what) {
  std::string text = text_of_form(value_of(form, name));
  if (text.empty()) throw FormError(what);
  return text;
}

}  // namespace rooflab

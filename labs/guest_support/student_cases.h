#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "grader/contract/guest_call.h"
#include "grader/contract/test_cases.h"

namespace rooflab {

/// Hands the cases of a student's tests to the grader, as results of a call: case i has the result
/// "<i>.<name>" for each of its fields. The grader makes the calls that they describe, in processes
/// that nothing of the student's is in. What no task allows is handed on by its number alone, so
/// that the reply has room for everything else: cases beyond kMostTestCases, and arrays of a case
/// beyond kMostElementsOfCase.
class StudentCases {
 public:
  explicit StudentCases(GuestCall& call) : call_(call) { call_.result("cases", std::int64_t{0}); }

  /// Begins a case. What follows is a part of it.
  /// @param tolerance how far an element may be from what is expected of it
  StudentCases& add(const std::string& name, double tolerance) {
    call_.result("cases", ++count_);
    elements_left_ = kMostElementsOfCase;
    field("name", name.substr(0, kLongestCaseName + 1));
    return real("tolerance", tolerance);
  }
  StudentCases& integer(const std::string& name, std::int64_t value) { return field(name, value); }
  StudentCases& real(const std::string& name, double value) { return field(name, value); }
  /// Elements of an input, or what an output has to hold; of an output that is not looked at, none.
  StudentCases& array(const std::string& name, std::span<const float> values) {
    constexpr char kDigits[] = "0123456789abcdef";
    constexpr int kBits = 4;
    const auto count = static_cast<std::int64_t>(values.size());
    if (count > elements_left_) return field(name, count);
    elements_left_ -= count;
    std::string text;
    text.reserve(values.size() * sizeof(float) * 2);
    for (const float value : values) {
      const auto bits = std::bit_cast<std::uint32_t>(value);
      for (int at = 32 - kBits; at >= 0; at -= kBits) text += kDigits[(bits >> at) & 0xF];
    }
    return field(name, std::move(text));
  }

 private:
  StudentCases& field(const std::string& name, Value value) {
    if (count_ <= kMostTestCases) {
      call_.result(std::to_string(count_ - 1) + "." + name, std::move(value));
    }
    return *this;
  }

  GuestCall& call_;
  std::int64_t count_ = 0;
  std::int64_t elements_left_ = 0;  ///< of the case that was added last
};

}  // namespace rooflab

#pragma once

#include <cstddef>
#include <string>
#include <utility>

namespace rooflab {

/// What belongs to one case: sizes, values, labels and kernels that the student's code named.
struct Evidence {
  std::string text;
};

/// A sentence of an oracle's, and how much of it is told of a hidden case. A literal is the same
/// for all cases and public; evidence would carry a case's numbers, or what student code has put in
/// the place of them, out of it:
///
///     "the gaps are wrong" + Evidence{message("; there should be ", count)}
struct Sentence {
  std::string text;       ///< all of it
  std::string in_public;  ///< the part that no case decides; empty when every word does

  Sentence() = default;
  template <std::size_t N>
  Sentence(const char (&literal)[N]) : text(literal), in_public(literal) {}
  /// A text that was put together: nothing of it is public.
  Sentence(std::string composed) : text(std::move(composed)) {}

  /// A text that is the same for all cases although it is no literal.
  static Sentence of_all_cases(std::string text) {
    Sentence sentence(std::move(text));
    sentence.in_public = sentence.text;
    return sentence;
  }
};

inline Sentence operator+(Sentence sentence, const Evidence& evidence) {
  sentence.text += evidence.text;
  return sentence;
}

}  // namespace rooflab

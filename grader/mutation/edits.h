#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "grader/mutation/code_tokens.h"

namespace rooflab::mutation {

/// Changes to the tokens of a file.
class Edits {
 public:
  explicit Edits(const Code& code) : code_(code), of_tokens_(code.size()) {}

  void replace(std::size_t token, std::string text) { of_tokens_.at(token).text = std::move(text); }
  /// Around what is there, the last call outermost.
  void put_before(std::size_t token, const std::string& text) {
    of_tokens_.at(token).before.insert(0, text);
  }
  void put_behind(std::size_t token, const std::string& text) {
    of_tokens_.at(token).behind += text;
  }
  void wrap(std::size_t first, std::size_t last, const std::string& before,
            const std::string& behind) {
    put_before(first, before);
    put_behind(last, behind);
  }
  bool is_replaced(std::size_t token) const { return !of_tokens_.at(token).text.empty(); }
  const std::string& replacement(std::size_t token) const { return of_tokens_.at(token).text; }

  /// The tokens from `first` to before `last`, in one line.
  std::string joined(std::size_t first, std::size_t last) const;
  /// The whole file.
  std::string text() const;

 private:
  struct OfToken {
    std::string before, text, behind;  ///< an empty text: the token's own
  };
  std::string token_text(std::size_t token) const;

  const Code& code_;
  std::vector<OfToken> of_tokens_;
};

}  // namespace rooflab::mutation

#include "grader/mutation/edits.h"

namespace rooflab::mutation {

std::string Edits::token_text(std::size_t token) const {
  const OfToken& edit = of_tokens_[token];
  return edit.before + (edit.text.empty() ? code_.at(token).text : edit.text) + edit.behind;
}

std::string Edits::joined(std::size_t first, std::size_t last) const {
  std::string joined;
  for (std::size_t i = first; i < last; ++i) {
    if (i > first) joined += ' ';
    joined += token_text(i);
  }
  return joined;
}

std::string Edits::text() const {
  std::string result;
  std::size_t at = 0;
  for (std::size_t i = 0; i < code_.size(); ++i) {
    const CodeToken& token = code_.at(i);
    result.append(code_.text(), at, token.offset - at);
    result += token_text(i);
    at = token.offset + token.text.size();
  }
  return result.append(code_.text(), at, std::string::npos);
}

}  // namespace rooflab::mutation

#include "simgpu/ptx/kernel_texts.h"

#include <algorithm>
#include <unordered_set>

#include "simgpu/ptx/lexer.h"

namespace simgpu::ptx {
namespace {

/// Each kernel is read with what stands outside of all of them: so much of it, once for each.
constexpr std::size_t kMostRepeatedBytes = std::size_t{16} << 20;
/// And each is assembled by itself, which takes a process. A file of the course has some dozens.
constexpr std::size_t kMostKernels = 128;

bool is_linkage(const Token& token) {
  return token.is_dot_word("visible") || token.is_dot_word("weak");
}

/// Takes everything up to the '}' of a '{' that is taken already. @return where it ends, or
/// nothing.
std::optional<std::size_t> end_of_braces(Lexer& lexer,
                                         std::vector<std::string_view>* identifiers = nullptr) {
  for (std::size_t depth = 1; depth > 0;) {
    const Token token = lexer.next();
    if (token.kind == TokenKind::end) return std::nullopt;
    if (identifiers != nullptr && token.kind == TokenKind::identifier)
      identifiers->push_back(token.text);
    depth += token.is('{');
    depth -= token.is('}');
    if (depth == 0) return token.offset + 1;
  }
  return std::nullopt;
}

/// Takes the head of a function, to the '{' of its body. @return whether it has a body.
bool skip_head(Lexer& lexer) {
  while (true) {
    const Token token = lexer.next();
    if (token.is('{')) return true;
    if (token.is(';') || token.kind == TokenKind::end) return false;
  }
}

}  // namespace

std::optional<KernelTexts> KernelTexts::of(std::string_view text) {
  KernelTexts found;
  std::unordered_set<std::string_view> names;
  std::vector<std::string_view> named_outside;
  Lexer lexer(text);
  Token before;
  for (Token token = lexer.next(); token.kind != TokenKind::end;
       before = token, token = lexer.next()) {
    if (token.is_dot_word("alias")) return std::nullopt;
    if (token.is_dot_word("func") && skip_head(lexer)) return std::nullopt;
    if (token.kind == TokenKind::identifier) named_outside.push_back(token.text);
    if (token.is('{') && !end_of_braces(lexer, &named_outside)) return std::nullopt;
    if (!token.is_dot_word("entry")) continue;
    const std::string_view name = lexer.peek().text;
    if (lexer.peek().kind != TokenKind::identifier || !names.insert(name).second) {
      return std::nullopt;
    }
    if (!skip_head(lexer)) return std::nullopt;
    const auto end = end_of_braces(lexer);
    if (!end || found.kernels_.size() == kMostKernels) return std::nullopt;
    found.kernels_.push_back(
        {std::string(name), {is_linkage(before) ? before.offset : token.offset, *end}});
  }
  const auto is_kernel = [&](std::string_view name) { return names.contains(name); };
  if (std::ranges::any_of(named_outside, is_kernel)) return std::nullopt;
  std::size_t outside = text.size();
  for (const Kernel& kernel : found.kernels_) outside -= kernel.range.end - kernel.range.begin;
  if (outside * found.kernels_.size() > kMostRepeatedBytes) return std::nullopt;
  found.text_ = text;
  return found;
}

std::string KernelTexts::with_only(std::size_t kernel) const {
  std::string text;
  std::size_t next = 0;
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    if (i == kernel) continue;
    const TextRange& left_out = kernels_[i].range;
    text.append(text_, next, left_out.begin - next);
    next = left_out.end;
  }
  return text.append(text_, next);
}

}  // namespace simgpu::ptx

#include "simgpu/source/host_calls.h"

#include <algorithm>
#include <array>
#include <optional>

#include "simgpu/source/tokens.h"

namespace simgpu {
namespace {

class CallReader {
 public:
  explicit CallReader(const std::vector<Token>& tokens) : tokens_(tokens) {}

  std::vector<HostCall> run() const {
    std::vector<HostCall> calls;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (auto call = is_sign(i, "<") ? launch_at(i) : function_at(i)) {
        calls.push_back(std::move(*call));
      }
    }
    return calls;
  }

 private:
  bool is_sign(std::size_t i, std::string_view sign) const {
    return i < tokens_.size() && tokens_[i].kind == Token::Kind::sign && tokens_[i].text == sign;
  }
  bool are_three(std::size_t i, std::string_view sign) const {
    return is_sign(i, sign) && is_sign(i + 1, sign) && is_sign(i + 2, sign);
  }

  /// The first of three signs is at `open`.
  std::optional<HostCall> launch_at(std::size_t open) const {
    if (!are_three(open, "<") || open == 0) return std::nullopt;
    const auto name = name_before(open);
    if (!name) return std::nullopt;
    HostCall call{.name = tokens_[*name].text,
                  .line = tokens_[*name].line,
                  .is_launch = true,
                  .arguments = {}};
    call.arguments = arguments_from(open + 3);
    return call;
  }

  /// Of "name<T, 4> <<<" the name's place.
  std::optional<std::size_t> name_before(std::size_t end) const {
    std::size_t i = end - 1;
    if (is_sign(i, ">")) {
      for (int depth = 0;; --i) {
        depth += is_sign(i, ">") ? 1 : is_sign(i, "<") ? -1 : 0;
        if (i == 0) return std::nullopt;
        if (depth == 0) break;
      }
      --i;
    }
    if (tokens_[i].kind != Token::Kind::word) return std::nullopt;
    return i;
  }

  std::optional<HostCall> function_at(std::size_t i) const {
    const Token& token = tokens_[i];
    const bool is_cuda = token.text.starts_with("cuda") || token.text.starts_with("cublas");
    if (token.kind != Token::Kind::word || !is_cuda || !is_sign(i + 1, "(")) return std::nullopt;
    return HostCall{.name = token.text,
                    .line = token.line,
                    .is_launch = false,
                    .arguments = arguments_from(i + 2)};
  }

  /// Up to the sign that closes the list: a parenthesis, or >>> outside of all parentheses.
  std::vector<std::string> arguments_from(std::size_t first) const {
    std::vector<std::string> arguments;
    std::string text;
    int depth = 0;
    for (std::size_t i = first; i < tokens_.size(); ++i) {
      const bool opens = is_sign(i, "(") || is_sign(i, "{") || is_sign(i, "[");
      const bool closes = is_sign(i, ")") || is_sign(i, "}") || is_sign(i, "]");
      if (depth == 0 && (closes || are_three(i, ">"))) break;
      depth += opens ? 1 : closes ? -1 : 0;
      if (depth == 0 && is_sign(i, ",")) {
        arguments.push_back(std::move(text));
        text.clear();
      } else {
        text += tokens_[i].text;
      }
    }
    if (!text.empty()) arguments.push_back(std::move(text));
    return arguments;
  }

  const std::vector<Token>& tokens_;
};

/// What stands for one of the default streams where a stream is expected.
bool names_default(const std::string& argument) {
  constexpr std::array<std::string_view, 7> kDefaults{
      "0", "nullptr", "NULL", "cudaStreamLegacy", "cudaStreamPerThread", "cudaStreamDefault", "{}"};
  return std::ranges::find(kDefaults, argument) != kDefaults.end();
}

}  // namespace

std::vector<HostCall> host_calls(std::string_view source) {
  return CallReader(tokens_of(source).tokens).run();
}

bool is_on_default_stream(const HostCall& call) {
  struct Function {
    std::string_view name;
    std::size_t arguments;  ///< with the stream, which is the last; 0: it takes none
  };
  constexpr std::array kFunctions{
      Function{"cudaMemcpy", 0},         Function{"cudaMemset", 0},
      Function{"cudaMemcpy2D", 0},       Function{"cudaMemset2D", 0},
      Function{"cudaMemcpyToSymbol", 0}, Function{"cudaMemcpyFromSymbol", 0},
      Function{"cudaMemcpyAsync", 5},    Function{"cudaMemsetAsync", 4},
      Function{"cudaMemcpy2DAsync", 8},  Function{"cudaMemset2DAsync", 6},
      Function{"cudaLaunchKernel", 6}};
  constexpr std::size_t kLaunchArguments = 4;
  std::size_t arguments = kLaunchArguments;
  if (!call.is_launch) {
    const auto known = std::ranges::find(kFunctions, call.name, &Function::name);
    if (known == kFunctions.end()) return false;
    arguments = known->arguments;
  }
  return call.arguments.size() < arguments || arguments == 0 ||
         names_default(call.arguments.back());
}

}  // namespace simgpu

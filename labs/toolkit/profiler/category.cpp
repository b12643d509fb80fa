#include "labs/toolkit/profiler/category.h"

#include <algorithm>
#include <array>
#include <string>

namespace rooflab {
namespace {

bool is_word_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
}

/// The name in lower case, without template arguments.
std::string plain(std::string_view name) {
  std::string text(name.substr(0, name.find('<')));
  std::ranges::transform(text, text.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return text;
}

template <std::size_t Count>
bool contains_any(const std::string& text, const std::array<std::string_view, Count>& parts) {
  return std::ranges::any_of(
      parts, [&](std::string_view part) { return text.find(part) != std::string::npos; });
}

/// Whether a run of letters and digits is one of the words: "fused_add_kernel" has the word "add",
/// "address" has not.
template <std::size_t Count>
bool has_word(const std::string& text, const std::array<std::string_view, Count>& words) {
  for (std::size_t begin = 0; begin < text.size(); ++begin) {
    std::size_t end = begin;
    while (end < text.size() && is_word_letter(text[end])) ++end;
    const std::string_view word = std::string_view(text).substr(begin, end - begin);
    if (std::ranges::find(words, word) != words.end()) return true;
    begin = end;
  }
  return false;
}

constexpr std::array<std::string_view, 3> kFusedAttention{"flash", "fmha", "attention"};
constexpr std::array<std::string_view, 7> kGemm{"gemm", "gemv", "matmul", "cutlass",
                                                "wmma", "xmma", "splitk"};
constexpr std::array<std::string_view, 4> kNorm{"layernorm", "layer_norm", "rmsnorm", "rms_norm"};
constexpr std::array<std::string_view, 5> kElementwise{"elementwise", "pointwise", "vectorized",
                                                       "unrolled", "triton_poi"};
constexpr std::array<std::string_view, 18> kElementwiseWords{
    "add",  "sub",     "mul",  "multiply", "div",  "scale", "square", "exp",  "rsqrt",
    "tanh", "sigmoid", "relu", "gelu",     "silu", "cast",  "fill",   "sqrt", "pow"};

}  // namespace

KernelCategory classify(std::string_view name) {
  const std::string text = plain(name);
  if (text.starts_with("memcpy") || text.starts_with("memset")) return KernelCategory::memory;
  // One kernel for what used to be several: it is none of these.
  if (contains_any(text, kFusedAttention)) return KernelCategory::other;
  if (contains_any(text, kGemm)) return KernelCategory::gemm;
  if (text.find("softmax") != std::string::npos) return KernelCategory::softmax;
  if (contains_any(text, kNorm)) return KernelCategory::layernorm;
  if (contains_any(text, kElementwise) || has_word(text, kElementwiseWords)) {
    return KernelCategory::elementwise;
  }
  return KernelCategory::other;
}

KernelCounts count_kernels(const Profile& profile) {
  KernelCounts counts;
  for (const ProfiledEvent& event : profile.events) {
    if (!is_device_work(event)) continue;
    ++counts.total;
    switch (classify(event.name)) {
      case KernelCategory::gemm:
        ++counts.gemm;
        break;
      case KernelCategory::elementwise:
        ++counts.elementwise;
        break;
      case KernelCategory::softmax:
        ++counts.softmax;
        break;
      case KernelCategory::layernorm:
        ++counts.layernorm;
        break;
      case KernelCategory::memory:
        ++counts.memory;
        break;
      case KernelCategory::other:
        ++counts.other;
    }
  }
  return counts;
}

}  // namespace rooflab

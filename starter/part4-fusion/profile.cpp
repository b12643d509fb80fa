#include "profile.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "toolkit/todo.h"

namespace {

using Kind = ProfiledEvent::Kind;

// A line of the rule in profile.h: a name fits when it contains one of the parts, or when one of
// its words is among the words.
struct Rule {
  Category category;
  std::vector<std::string> parts, words = {};
};

// All lines of the rule but its first, in order. Names are in lower case here.
const std::vector<Rule> kRules = {
    {Category::other, {"flash", "fmha", "attention"}},
    {Category::gemm, {"gemm", "gemv", "matmul", "cutlass", "wmma", "xmma", "splitk"}},
    {Category::softmax, {"softmax"}},
    {Category::layernorm, {"layernorm", "layer_norm", "rmsnorm", "rms_norm"}},
    {Category::elementwise,
     {"elementwise", "pointwise", "vectorized", "unrolled", "triton_poi"},
     {"add", "sub", "mul", "multiply", "div", "scale", "square", "sqrt", "rsqrt", "pow", "exp",
      "tanh", "sigmoid", "relu", "gelu", "silu", "cast", "fill"}}};

// The longest runs of letters and digits.
std::vector<std::string> words_of(const std::string& name) {
  const auto is_word_letter = [](unsigned char letter) { return std::isalnum(letter) != 0; };
  std::vector<std::string> words;
  for (auto at = name.begin(); at != name.end();) {
    const auto begin = std::find_if(at, name.end(), is_word_letter);
    at = std::find_if_not(begin, name.end(), is_word_letter);
    if (begin != at) words.emplace_back(begin, at);
  }
  return words;
}

bool fits(const Rule& rule, const std::string& name) {
  for (const std::string& part : rule.parts) {
    if (name.find(part) != std::string::npos) return true;
  }
  for (const std::string& word : words_of(name)) {
    if (std::ranges::find(rule.words, word) != rule.words.end()) return true;
  }
  return false;
}

}  // namespace

Category classify(std::string_view name) {
  rooflab::todo("cut the name at '<', turn it to lower case, then take the first rule that fits");
}

// Your helpers go here: what is a device event, and when does it end?

CategoryCounts count_by_category(const std::vector<ProfiledEvent>& events) {
  rooflab::todo("which events ran on the device? Classify each and count it");
}

std::vector<Summary> summarise(const std::vector<ProfiledEvent>& events) {
  rooflab::todo("gather calls and times by name, then means and shares, then sort");
}

std::string top_kernel(const std::vector<ProfiledEvent>& events) {
  rooflab::todo("summarise only the kernels: which comes first?");
}

std::vector<Gap> launch_gaps(const std::vector<ProfiledEvent>& events) {
  rooflab::todo("walk over the device events by their start: until when is the device busy?");
}

WorkloadReport profile_workload(const std::function<void()>& iteration) {
  rooflab::todo("let rooflab::profile run the iterations; which of its events are needed?");
}

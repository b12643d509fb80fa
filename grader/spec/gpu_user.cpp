#include "grader/spec/gpu_user.h"

#include <fmt/format.h>

namespace rooflab {
namespace {

std::string words_of(const GpuUser& user) {
  std::string details = fmt::format("process {}", user.pid);
  if (user.memory_bytes > 0) {
    details += fmt::format(", {:.1f} GiB", static_cast<double>(user.memory_bytes) / (1ULL << 30));
  }
  return user.name.empty() ? details : fmt::format("{} ({})", user.name, details);
}

}  // namespace

std::string in_words(const std::vector<GpuUser>& users) {
  std::string words;
  for (const GpuUser& user : users) words += (words.empty() ? "" : ", ") + words_of(user);
  return words;
}

}  // namespace rooflab

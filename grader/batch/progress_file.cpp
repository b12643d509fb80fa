#include "grader/batch/progress_file.h"

#include <fmt/format.h>

#include <cmath>
#include <system_error>
#include <utility>

#include "grader/batch/batch_folder.h"
#include "grader/report/text.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

/// "40 s", "4 min", "2 h 05 min".
std::string duration_words(double seconds) {
  const auto whole = std::lround(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  const auto minutes = std::lround(seconds / 60);
  if (minutes < 60) return fmt::format("{} min", minutes);
  return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
}

}  // namespace

std::string progress_words(const BatchProgress& progress) {
  const bool is_known = progress.left_s && progress.done < progress.total;
  return fmt::format(
      "{}, {} of {}{}", progress.stage, progress.done, progress.total,
      is_known ? fmt::format(", about {} left", duration_words(*progress.left_s)) : "");
}

ProgressFile::ProgressFile(std::filesystem::path folder, BatchListener& next)
    : file_(std::move(folder) / kProgressFile), next_(next) {}

ProgressFile::~ProgressFile() {
  std::error_code ignored;
  std::filesystem::remove(file_, ignored);
}

void ProgressFile::progress(const BatchProgress& progress) {
  try {
    write_file_atomically(file_, progress_words(progress) + "\n");
  } catch (const FileError&) {  // results are more than how far one is with them
  }
  next_.progress(progress);
}

std::string progress_in(const std::filesystem::path& folder) {
  if (!is_at_work(folder)) return {};
  try {
    const std::string words = read_file(folder / kProgressFile);
    return one_line(words.substr(0, words.find('\n')));
  } catch (const FileError&) {
    return "a batch is at work";
  }
}

}  // namespace rooflab

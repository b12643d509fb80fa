#include <gtest/gtest.h>

#include <cstdlib>

#include "grader/batch/outputs/code_titles.h"
#include "grader/batch/outputs/sample_class_testing.h"
#include "grader/batch/outputs/write_outputs.h"

namespace rooflab {
namespace {

/// Not a test of its own: scripts/check_pages has it write the pages that it opens in a browser.
TEST(SamplePages, AreWrittenForTheBrowser) {
  const char* folder = std::getenv("ROOFLAB_SAMPLE_PAGES");
  if (folder == nullptr) GTEST_SKIP() << "run scripts/check_pages";
  OutputOptions options;
  options.leaderboard = true;
  options.code_titles = read_code_titles(ROOFLAB_SOURCE_DIR "/handouts/errors");
  for (const std::size_t students : {1, 30, 300}) {
    const SampleClass sample = sample_class(students);
    write_outputs(std::filesystem::path(folder) / std::to_string(students), sample.results,
                  sample.loader(), sample_gpu(), options);
  }
  SampleClass sample = sample_class(40);
  make_hostile(sample);
  write_outputs(std::filesystem::path(folder) / "hostile", sample.results, sample.loader(),
                sample_gpu(), options);
}

}  // namespace
}  // namespace rooflab

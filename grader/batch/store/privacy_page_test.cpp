#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "grader/batch/store/store.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

/// Names in backticks in the first column of the table below a heading.
std::set<std::string> names_below(const std::string& page, const std::string& heading) {
  std::set<std::string> names;
  std::size_t line = page.find("\n" + heading + "\n");
  const std::size_t end = page.find("\n#", line + 1);
  while ((line = page.find("\n| `", line + 1)) < end) {
    const std::size_t column_end = page.find(" |", line + 3);
    for (std::size_t at = page.find('`', line); at < column_end; at = page.find('`', at + 1)) {
      const std::size_t close = page.find('`', at + 1);
      names.insert(page.substr(at + 1, close - at - 1));
      at = close;
    }
  }
  return names;
}

TEST(PrivacyPage, SaysOfEveryTableWhatItHoldsOfAStudent) {
  const TemporaryFolder folder(std::filesystem::temp_directory_path());
  const std::filesystem::path file = folder.path() / "batch.sqlite";
  const Store store(file);
  Database database(file);
  Statement row(database, "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')");
  std::set<std::string> tables;
  while (row.step()) tables.insert(row.text());
  const std::string page = read_file(std::filesystem::path(ROOFLAB_SOURCE_DIR) / "docs/privacy.md");
  EXPECT_EQ(names_below(page, "## The database"), tables);
}

}  // namespace
}  // namespace rooflab

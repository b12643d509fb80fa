#include "grader/batch/outputs/code_titles.h"

#include <fstream>
#include <system_error>

namespace rooflab {

std::map<std::string, std::string> read_code_titles(const std::filesystem::path& pages) {
  std::map<std::string, std::string> titles;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(pages, missing)) {
    const std::string code = entry.path().stem().string(), opening = "# " + code + ": ";
    std::ifstream page(entry.path());
    std::string line;
    if (entry.path().extension() == ".md" && std::getline(page, line) &&
        line.starts_with(opening)) {
      titles[code] = line.substr(opening.size());
    }
  }
  return titles;
}

}  // namespace rooflab

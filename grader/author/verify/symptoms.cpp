#include "grader/author/verify/symptoms.h"

#include <fmt/format.h>

#include <regex>
#include <sstream>

#include "grader/spec/files.h"
#include "grader/spec/part.h"

namespace rooflab::verify {

std::set<std::string> load_symptoms(const std::filesystem::path& codes) {
  static const std::regex entry(R"(- (RL\d{4})\b.*)");
  std::set<std::string> symptoms;
  bool inside = false;
  std::istringstream in(read_file(codes));
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#")) inside = line == "## Symptoms";
    std::smatch match;
    if (inside && std::regex_match(line, match, entry)) symptoms.insert(match[1]);
  }
  if (symptoms.empty()) {
    throw SpecError(fmt::format(
        "{}: no section \"## Symptoms\" lists a code; write one, with a line \"- RL0401, …\" for "
        "each code that names no cause",
        codes.string()));
  }
  return symptoms;
}

}  // namespace rooflab::verify

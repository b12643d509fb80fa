#include "grader/author/verify/listed_codes.h"

#include <fmt/format.h>

#include <regex>
#include <sstream>

#include "grader/spec/files.h"
#include "grader/spec/part.h"

namespace rooflab::verify {

std::set<std::string> load_listed_codes(const std::filesystem::path& codes,
                                        const std::string& section) {
  static const std::regex entry(R"(- (RL\d{4})\b.*)");
  std::set<std::string> listed;
  bool inside = false;
  std::istringstream in(read_file(codes));
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#")) inside = line == "## " + section;
    std::smatch match;
    if (inside && std::regex_match(line, match, entry)) listed.insert(match[1]);
  }
  if (listed.empty()) {
    throw SpecError(fmt::format(
        "{}: no section \"## {}\" lists a code; write one, with a line \"- RL0401, …\" for each of "
        "its codes",
        codes.string(), section));
  }
  return listed;
}

}  // namespace rooflab::verify

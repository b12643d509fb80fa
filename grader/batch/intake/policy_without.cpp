#include "grader/batch/intake/policy_without.h"

#include <toml++/toml.h>

#include <sstream>

#include "grader/batch/intake/fold_name.h"
#include "grader/spec/toml_reader.h"

namespace rooflab {
namespace {

void erase_students(toml::array* rows, const std::vector<std::string>& names) {
  if (rows == nullptr) return;
  for (auto row = rows->begin(); row != rows->end();) {
    const toml::table* table = row->as_table();
    const auto student = table == nullptr ? std::nullopt : (*table)["student"].value<std::string>();
    row = student && means_one_of(*student, names) ? rows->erase(row) : row + 1;
  }
}

}  // namespace

std::string policy_without(std::string_view text, const std::vector<std::string>& names) {
  toml::table policy = parse_toml_text(std::string(text), "the late policy");
  erase_students(policy["extension"].as_array(), names);
  erase_students(policy["slip_days"]["spent"].as_array(), names);
  std::ostringstream out;
  out << policy << '\n';
  return std::move(out).str();
}

}  // namespace rooflab

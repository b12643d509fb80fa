// libFuzzer's entry to what reads the text of a class: the first byte says which reader, the rest
// is its text, or, for a capital letter, makes one of its grammar. Each gives an answer or the one
// error that it promises.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "grader/batch/intake/csv.h"
#include "grader/batch/intake/delivery.h"
#include "grader/batch/intake/fold_name.h"
#include "grader/batch/intake/gradescope.h"
#include "grader/batch/intake/groups.h"
#include "grader/batch/intake/late_policy.h"
#include "grader/batch/intake/roster.h"
#include "grader/spec/part.h"
#include "simgpu/fuzzing/grammar/csv_text.h"
#include "simgpu/fuzzing/grammar/json_text.h"
#include "simgpu/fuzzing/grammar/toml_text.h"

namespace rooflab {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void read_roster(std::string_view text) {
  try {
    const Roster roster = Roster::parse(text, "roster.csv");
    for (const Student& student : roster.students()) {
      require(!student.key.empty());
      roster.find({.name = student.name, .email = student.email, .login = student.login});
      roster.named(student.name);
    }
    const auto again = Roster::from_kept(roster.kept());
    require(again && again->kept() == roster.kept());
  } catch (const CsvError&) {
  }
}

void read_groups(std::string_view text) {
  static const Roster roster =
      Roster::parse("key,name,email,id\nada,Ada,ada@x.org,1\nbob,Bob,bob@x.org,2\n", "roster.csv");
  try {
    const Groups groups = Groups::parse(text, "groups.csv", roster);
    for (const char* key : {"ada", "bob"}) {
      const auto members = groups.members_of(groups.group_of(key));
      require(members.empty() || std::ranges::find(members, key) != members.end());
    }
    require(Groups::from_kept(groups.kept()).kept() == groups.kept());
  } catch (const CsvError&) {
  }
}

CsvTable fields_of(const CsvFile& file) {
  CsvTable table;
  for (const CsvRow& row : file.rows) table.push_back(row.fields);
  return table;
}

void read_table(std::string_view text) {
  try {
    const std::string written = to_csv(fields_of(read_csv(text, "table.csv")));
    // What is written is read the same again, and guarded once is guarded for good.
    require(to_csv(fields_of(read_csv(written, "again.csv"))) == written);
  } catch (const CsvError&) {
  }
}

void read_policy(std::string_view text) {
  try {
    const LatePolicy policy = LatePolicy::parse(text, "late.toml");
    for (const std::int64_t time : {INT64_MIN, std::int64_t{0}, INT64_MAX}) {
      const auto late = policy.lateness(policy.named_students(), 2, time, true, 3);
      require(late.keeps >= 0 && late.keeps <= 1 && std::isfinite(late.hours) && late.hours >= 0);
    }
  } catch (const SpecError&) {
  }
}

/// A text of the grammar that a reader is for.
std::string made_text(char reader, std::string_view bytes) {
  using namespace simgpu::fuzzing;  // NOLINT(google-build-using-namespace): one function of that
                                    // namespace
  static constexpr std::array<std::string_view, 13> kHeadings = {
      "Student", "ID",         "SIS User ID", "SIS Login ID", "Section",       "Name", "Email",
      "SID",     "First name", "Surname",     "ID number",    "Email address", "Group"};
  static constexpr std::array<std::string_view, 13> kPolicy = {
      "due",   "step",    "extension",   "parts", "keeps",     "student", "part",
      "hours", "parts.1", "submissions", "most",  "after_due", "groups"};
  static constexpr std::array<std::string_view, 5> kUsers = {"created_at", "users", "name", "email",
                                                             "sid"};
  Choices choices(bytes);
  switch (reader) {
    case 'r':
    case 't':
    case 'g':
      return csv_text(choices, kHeadings);
    case 'p':
      return TomlText(choices, kPolicy).text();
    case 'j':
      return JsonText(choices, kUsers).object();
    case 'y': {
      std::string record = "submission_1:\n";
      while (!choices.is_empty() && record.size() < (1U << 16)) {
        record +=
            repeated(" ", choices.below(8)) +
            std::string(choices.of({":created_at: ", ":submitters:\n",
                                    "- :name: ", "  :email: ", ":sid: ", "&a ", "*a ", "<<: *a",
                                    "[", "{", "!ruby/object:X ", "utc: ", "|\n", "? ", "---\n"})) +
            awkward_text(choices, 4096) + std::string(choices.of({"\n", "\n", ": ", "]", "}"}));
      }
      return record;
    }
    default:
      return awkward_text(choices) + "_" + awkward_text(choices, 64) + "_" +
             std::to_string(choices.number(2)) + "_" + awkward_text(choices, 256);
  }
}

void read_names(std::string_view text) {
  const std::string name(text);
  for (const bool is_folder : {false, true}) {
    const Delivery delivery = delivery_of(name, is_folder);
    require(is_folder || !delivery.file.empty() || name.empty());
  }
  archive_name(name);
  without_extension(name);
  require(fold_name(fold_name(name)) == fold_name(name));
}

}  // namespace
}  // namespace rooflab

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const bool makes = data[0] >= 'A' && data[0] <= 'Z';
  const char reader = makes ? static_cast<char>(data[0] - 'A' + 'a') : static_cast<char>(data[0]);
  const std::string made = makes ? rooflab::made_text(reader, bytes) : "";
  const std::string_view text = makes ? std::string_view(made) : bytes;
  switch (reader) {
    case 'r':
      rooflab::read_roster(text);
      break;
    case 't':
      rooflab::read_table(text);
      break;
    case 'g':
      rooflab::read_groups(text);
      break;
    case 'p':
      rooflab::read_policy(text);
      break;
    case 'y':
      rooflab::read_export_metadata(text, "submission_1");
      break;
    case 'j':
      rooflab::read_autograder_metadata(text);
      break;
    case 'n':
      rooflab::read_names(text);
      break;
    case 'd':
      rooflab::parse_time(text);
      break;
    default:
      break;
  }
  return 0;
}

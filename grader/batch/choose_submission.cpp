#include "grader/batch/choose_submission.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "grader/batch/batch_folder.h"
#include "grader/batch/store/choice_store.h"
#include "grader/report/text.h"

namespace rooflab {

std::string choose_submission(Store& store, const std::string& name, const ReviewAct& act) {
  ChoiceStore choices(store);
  std::set<std::string> entries, all;
  std::map<std::string, std::string> chosen;
  bool all_count = true;
  for (const auto& [student, rows] : choices.candidates()) {
    for (const SubmissionRow& row : rows) {
      all.insert(entry_of(row.id));
      if (row.called != name && entry_of(row.id) != name) continue;
      entries.insert(entry_of(row.id));
      chosen[student] = row.id;
      all_count = all_count && row.counts;
    }
  }
  if (entries.empty()) {
    throw BatchError(fmt::format(
        "--choose {}: {}", one_line(name),
        all.empty() ? "nobody has several submissions to choose from; leave it out"
                    : fmt::format("this is none of the submissions to choose from, which are {}",
                                  fmt::join(all, ", "))));
  }
  if (entries.size() > 1) {
    throw BatchError(fmt::format("--choose {}: that may be any of {}; use one of these names",
                                 one_line(name), fmt::join(entries, ", ")));
  }
  std::int64_t version = 0;
  const auto before = choices.all();
  for (const auto& [student, id] : chosen) {
    const auto known = before.find(student);
    if (known != before.end()) version = std::max(version, known->second.version);
  }
  if (!all_count) choices.choose(chosen, version, act);  // the same command may come again
  std::vector<std::string> students;
  for (const auto& [student, id] : chosen) students.push_back(one_line(student));
  return fmt::format("{} counts for {}, as {} says", *entries.begin(), fmt::join(students, ", "),
                     act.by.empty() ? "this command" : act.by);
}

}  // namespace rooflab

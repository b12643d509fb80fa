#include "grader/batch/store/choice_store.h"

#include <fmt/format.h>

#include <algorithm>

#include <nlohmann/json.hpp>

namespace rooflab {
namespace {

const SubmissionRow* row_of(const std::vector<SubmissionRow>& rows, const std::string& id) {
  const auto found = std::ranges::find(rows, id, &SubmissionRow::id);
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace

bool SubmissionChoice::decides(const std::set<std::string>& candidates) const {
  return candidates.contains(submission) && std::ranges::includes(among, candidates);
}

std::string entry_of(const std::string& row) { return row.substr(0, row.find('~')); }

std::string name_among(const SubmissionRow& one, const std::vector<SubmissionRow>& others) {
  const bool is_alone = std::ranges::count(others, one.called, &SubmissionRow::called) <= 1;
  return is_alone ? one.called : fmt::format("{} ({})", one.called, entry_of(one.id));
}

std::map<std::string, SubmissionChoice> ChoiceStore::all() {
  Statement row(database_,
                "SELECT student, submission, among, chosen_by, chosen_at, version FROM "
                "submission_choices");
  std::map<std::string, SubmissionChoice> choices;
  while (row.step()) {
    SubmissionChoice& choice = choices[row.text()];
    choice.submission = row.text();
    choice.among = nlohmann::json::parse(row.text()).get<std::set<std::string>>();
    choice.by = row.text();
    choice.at = row.integer();
    choice.version = row.integer();
  }
  return choices;
}

std::map<std::string, std::vector<SubmissionRow>> ChoiceStore::candidates() {
  std::map<std::string, std::vector<SubmissionRow>> candidates;
  for (SubmissionRow& row : store_.submissions()) {
    if (row.candidate) candidates[row.student].push_back(std::move(row));
  }
  for (auto& [student, rows] : candidates) {
    std::ranges::sort(rows, {}, [](const SubmissionRow& row) { return entry_of(row.id); });
  }
  return candidates;
}

void ChoiceStore::choose(const std::map<std::string, std::string>& submissions,
                         std::int64_t version, const ReviewAct& act) {
  Transaction transaction(database_);
  const auto candidates = this->candidates();
  const auto choices = all();
  ReviewLogEntry entry{.at = act.at,
                       .by = act.by,
                       .what = "submission chosen",
                       .part = kEveryPart,
                       .subject = "which submission counts",
                       .before = "no choice"};
  std::int64_t newest = 0;
  for (const auto& [student, id] : submissions) {
    const auto theirs = candidates.find(student);
    const SubmissionRow* row = theirs == candidates.end() ? nullptr : row_of(theirs->second, id);
    if (row == nullptr) {
      throw LostUpdate("this submission is no longer one of several to choose from");
    }
    entry.students.push_back(student);
    entry.after = name_among(*row, theirs->second);
    const auto before = choices.find(student);
    if (before == choices.end() || before->second.version <= newest) continue;
    newest = before->second.version;
    const SubmissionRow* chosen = row_of(theirs->second, before->second.submission);
    entry.before = chosen == nullptr ? "one that is gone" : name_among(*chosen, theirs->second);
    if (newest != version) {
      throw LostUpdate(fmt::format("{} has chosen meanwhile: {}", before->second.by, entry.before));
    }
  }
  for (const auto& [student, id] : submissions) {
    std::set<std::string> among;
    for (const SubmissionRow& row : candidates.at(student)) among.insert(row.id);
    put(student,
        {.submission = id, .among = among, .by = act.by, .at = act.at, .version = newest + 1});
  }
  review_.put_log(entry);
  transaction.commit();
}

void ChoiceStore::put(const std::string& student, const SubmissionChoice& choice) {
  Statement(database_, "INSERT OR REPLACE INTO submission_choices VALUES (?, ?, ?, ?, ?, ?)")
      .bind(student)
      .bind(choice.submission)
      .bind(nlohmann::json(choice.among).dump())
      .bind(choice.by)
      .bind(choice.at)
      .bind(choice.version)
      .run();
  Statement(database_,
            "UPDATE submissions SET counts = (id = ?) WHERE student = ? AND candidate AND present")
      .bind(choice.submission)
      .bind(student)
      .run();
}

}  // namespace rooflab

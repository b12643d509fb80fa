#include "grader/batch/forget.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>

#include "grader/batch/intake/fold_name.h"
#include "grader/batch/intake/groups.h"
#include "grader/batch/intake/policy_without.h"
#include "grader/batch/intake/roster.h"
#include "grader/batch/outputs/write_outputs.h"
#include "grader/batch/plan.h"
#include "grader/batch/whose_numbers.h"
#include "grader/pipeline/build_cache.h"
#include "grader/report/text.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;

Student one_student(Store& store, const std::string& who) {
  std::vector<Student> found;
  const std::vector<SubmissionRow> submissions = store.submissions();
  for (const Student& student : store.students()) {
    const bool by_submission = std::ranges::any_of(submissions, [&](const SubmissionRow& row) {
      return row.student == student.key && (row.id == who || row.called == who);
    });
    std::vector<std::string> names = names_of(student);
    names.push_back(student.name);
    if (by_submission || means_one_of(who, names)) found.push_back(student);
  }
  if (found.empty()) {
    throw BatchError(fmt::format(
        "--forget {}: nobody in the database goes by that; use a student's key, e-mail address, "
        "login "
        "or number as grades.csv has them. If an earlier command was interrupted, the outputs are "
        "written anew now, and nothing names the student any more",
        one_line(who)));
  }
  if (found.size() > 1) {
    std::vector<std::string> keys;
    for (const Student& student : found) keys.push_back(one_line(student.key));
    throw BatchError(fmt::format("--forget {}: that may be any of {}; use the key of one",
                                 one_line(who), fmt::join(keys, ", ")));
  }
  return found.front();
}

/// Removes files, and counts them.
class Remover {
 public:
  void remove(const fs::path& path) {
    std::error_code error;
    const auto removed = fs::remove_all(path, error);
    if (error) {
      throw FileError(
          fmt::format("cannot remove {}: {}; check its permissions, and run the same "
                      "command again",
                      path.string(), error.message()));
    }
    count_ += removed;
  }

  /// Every file of a folder whose name begins so.
  void remove_all_of(const fs::path& folder, const std::string& beginning) {
    std::vector<fs::path> files;
    std::error_code missing;
    for (const auto& entry : fs::directory_iterator(folder, missing)) {
      if (entry.path().filename().string().starts_with(beginning)) files.push_back(entry.path());
    }
    for (const fs::path& file : files) remove(file);
  }

  std::size_t count() const { return count_; }

 private:
  std::size_t count_ = 0;
};

std::size_t remove_files(const BatchFolder& folder, const Student& student,
                         const StudentTraces& traces) {
  const std::string stem = file_stem(student.key);
  Remover remover;
  remover.remove(folder.path() / "feedback" / (stem + ".html"));
  remover.remove(folder.path() / "gradescope" / (stem + ".json"));
  remover.remove_all_of(folder.path() / "answers", stem + "-part");
  for (const std::string& grading : traces.gradings) remover.remove(folder.job(grading));
  // What other commands made of the whole class, and make again.
  remover.remove(folder.path() / "compared.csv");
  remover.remove_all_of(folder.path(), "examples-part");
  remover.remove(folder.path() / "similarity");
  return remover.count();
}

void forget_in_settings(Store& store, const Student& student) {
  if (const auto roster = Roster::from_kept(store.setting("roster").value_or(""))) {
    store.set("roster", roster->without(student.key).kept());
  }
  if (const auto groups = store.setting("groups")) {
    store.set("groups", Groups::from_kept(*groups).without(student.key).kept());
  }
  if (const auto policy = store.setting("policy")) {
    store.set("policy", policy_without(*policy, names_of(student)));
  }
}

std::vector<std::string> left_words(Store& store, const StudentTraces& traces) {
  std::vector<std::string> left;
  for (const std::string& submission : traces.submissions) {
    left.push_back(fmt::format(
        "what was collected: {} in {}. Remove it, or the next batch takes it in again", submission,
        one_line(store.setting("submissions").value_or("the folder of submissions"))));
  }
  left.emplace_back(
      "the tables that you keep: rosters, policies, groups, points. Take the student out before "
      "you "
      "name one of them again");
  left.emplace_back(
      "what left this folder: archives, gradebooks and feedback on a platform, branches of "
      "feedback, "
      "copies and backups, caches on the nodes of a cluster");
  left.emplace_back(
      "what others have handed in together with the student: their files and the name of the "
      "entry");
  return left;
}

}  // namespace

Forgotten forget(Store& store, const BatchFolder& folder, const std::string& who,
                 const std::filesystem::path& cache) {
  const Student student = one_student(store, who);
  store.overwrite_free_pages();
  const StudentTraces traces = store.traces_of(student.key);
  Forgotten forgotten{.rows = {}, .left = left_words(store, traces)};
  forgotten.files = remove_files(folder, student, traces);
  Remover().remove_all_of(cache / "machine_code", "");  // nobody knows whose it is
  forgotten.builds = BuildCache(cache / "build").forget(traces.contents);
  Transaction transaction = store.begin();
  forgotten.rows = store.forget_student(student.key, ids_of(student));
  forget_in_settings(store, student);
  transaction.commit();
  return forgotten;
}

}  // namespace rooflab

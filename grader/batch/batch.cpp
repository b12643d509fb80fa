#include "grader/batch/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <map>
#include <set>

#include "grader/batch/choose_submission.h"
#include "grader/batch/collect.h"
#include "grader/batch/counted_grade.h"
#include "grader/batch/free_text.h"
#include "grader/batch/hidden_cases.h"
#include "grader/batch/hold_back.h"
#include "grader/batch/manual_points.h"
#include "grader/batch/outputs/attempts.h"
#include "grader/batch/outputs/class_words.h"
#include "grader/batch/outputs/feedback_archives.h"
#include "grader/batch/plan.h"
#include "grader/batch/progress_file.h"
#include "grader/batch/raw_answers.h"
#include "grader/batch/regrade_requests.h"
#include "grader/batch/run_gradings.h"
#include "grader/batch/take_class.h"
#include "grader/pipeline/seeds.h"
#include "grader/report/evidence.h"
#include "grader/report/text.h"
#include "grader/spec/files.h"
#include "specs/gpu_spec.h"

namespace rooflab {
namespace {

constexpr const char* kAssignment = "Rooflab";

std::vector<int> numbers_of(const std::string& text) {
  std::vector<int> numbers;
  const char* at = text.data();
  const char* end = at + text.size();
  for (int number = 0; at < end; ++at) {
    at = std::from_chars(at, end, number).ptr;
    numbers.push_back(number);
  }
  return numbers;
}

std::string due_date_setting(int part) { return fmt::format("due date of part {}", part); }

/// What was asked for, laid over what the folder's last batch was asked for.
class Settler {
 public:
  Settler(const BatchRequest& request, Store& store) : request_(request), store_(store) {}

  BatchSettings run() {
    const bool begun = store_.setting("device").has_value();
    if (request_.resume && !begun) {
      throw BatchError(fmt::format("there is no batch in {} to go on with; leave out --resume",
                                   request_.out.string()));
    }
    BatchSettings settings;
    settings.submissions = submissions();
    settings.parts = parts();
    settings.device = device();
    settings.seed = seed();
    settings.roster = roster();
    settings.groups = groups(settings.roster);
    settings.policy = policy();
    settings.assignment = assignment();
    settings.canvas_assignments = canvas_assignments();
    settings.leaderboard = leaderboard();
    word(kRegradeCountsSetting, request_.regrade_counts, "");
    settings.replaced = std::move(replaced_);
    keep();
    return settings;
  }

 private:
  /// Nothing is kept before everything could be read.
  void set(const std::string& name, const std::string& value) { kept_[name] = value; }

  void keep() {
    Transaction transaction = store_.begin();
    for (const auto& [name, value] : kept_) store_.set(name, value);
    transaction.commit();
  }

  std::filesystem::path submissions() {
    std::filesystem::path folder = request_.submissions;
    if (folder.empty()) folder = store_.setting("submissions").value_or("");
    if (folder.empty()) {
      throw BatchError(
          "say which folder holds the submissions: grader batch SUBMISSIONS --out DIR");
    }
    // A grade can be replayed when the folder of last time is long gone.
    if (!request_.submissions.empty() && !std::filesystem::is_directory(folder)) {
      throw BatchError(fmt::format("there is no folder {}; name the one that holds the submissions",
                                   folder.string()));
    }
    folder = std::filesystem::absolute(folder);
    set("submissions", folder.string());
    return folder;
  }

  /// Parts can be added to a batch, not taken away.
  std::vector<int> parts() {
    std::vector<int> parts = parts_of_batch(store_);
    parts.insert(parts.end(), request_.parts.begin(), request_.parts.end());
    std::ranges::sort(parts);
    parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    if (parts.empty()) throw BatchError("name a part, as in --part 1; several are allowed");
    set("parts", fmt::format("{}", fmt::join(parts, ",")));
    return parts;
  }

  std::string device() {
    const auto before = store_.setting("device");
    if (before && !request_.device.empty() && *before != request_.device) {
      throw BatchError(fmt::format(
          "the batch in {} is graded on {}, and grades of two devices cannot be compared; name "
          "another folder with --out for {}",
          request_.out.string(), *before, request_.device));
    }
    std::string device = before                    ? *before
                         : request_.device.empty() ? request_.default_device()
                                                   : request_.device;
    set("device", device);
    return device;
  }

  Seed seed() {
    const auto before = store_.setting("seed");
    if (before && request_.seed && seed_of(*before) != *request_.seed) {
      throw BatchError(fmt::format(
          "the batch in {} has the seed {}; leave out --seed, or name another folder with --out",
          request_.out.string(), *before));
    }
    const Seed seed = before ? seed_of(*before) : request_.seed ? *request_.seed : fresh_seed();
    set("seed", text_of(seed));
    return seed;
  }

  /// A file's text, which the database keeps; the one of last time when there is no new one.
  std::optional<std::string> text(const std::string& name, const std::filesystem::path& file) {
    if (file.empty()) return store_.setting(name);
    std::string text = read_file(file);
    keep_file(name, name, store_.setting(name), text, file);
    return text;
  }

  /// A value that is kept; the one of last time when this command names none.
  std::string word(const std::string& name, const std::optional<std::string>& wanted,
                   const std::string& otherwise) {
    const auto before = store_.setting(name);
    std::string value = wanted ? *wanted : before.value_or(otherwise);
    if (before && !before->empty() && *before != value) {
      replaced_.push_back(fmt::format("the {} is \"{}\" from now on, and was \"{}\"", name,
                                      one_line(value), one_line(*before)));
    }
    set(name, value);
    return value;
  }

  std::string assignment() { return word("assignment", request_.assignment, kAssignment); }

  bool leaderboard() {
    std::optional<std::string> wanted;
    if (request_.leaderboard) wanted = *request_.leaderboard ? "yes" : "no";
    return word("leaderboard", wanted, "no") == "yes";
  }

  /// Each part's number is a setting of its own: "canvas assignment of part 1".
  std::map<int, std::string> canvas_assignments() {
    std::map<int, std::string> all;
    for (const auto& [part, number] : request_.canvas_assignments) all[part] = number;
    for (const int part : numbers_of(kept_.at("parts"))) {
      const std::string name = fmt::format("canvas assignment of part {}", part);
      const auto wanted = all.find(part);
      const std::string number =
          word(name, wanted == all.end() ? std::nullopt : std::optional(wanted->second), "");
      if (!number.empty()) all[part] = number;
    }
    for (const auto& [part, number] : request_.canvas_assignments) {
      if (kept_.contains(fmt::format("canvas assignment of part {}", part))) continue;
      throw BatchError(fmt::format(
          "--canvas-assignment {}={}: part {} is none that this batch grades", part, number, part));
    }
    return all;
  }

  /// Of the instructor's table only the columns that are used are kept. An older grader kept all of
  /// it, which goes with the first command.
  std::optional<Roster> roster() {
    const auto text = store_.setting("roster");
    std::optional<Roster> roster = text ? Roster::from_kept(*text) : std::nullopt;
    if (text && !roster) roster = Roster::parse(*text, "the roster");
    std::optional<std::string> before;
    if (roster) before = roster->kept();
    if (!request_.roster.empty()) {
      roster = Roster::parse(read_file(request_.roster), request_.roster.string());
    }
    if (roster) keep_file("roster", "roster", before, roster->kept(), request_.roster);
    return roster;
  }

  Groups groups(const std::optional<Roster>& roster) {
    const auto before = store_.setting("groups");
    if (request_.groups.empty()) return Groups::from_kept(before.value_or(""));
    if (!roster) {
      throw BatchError("--groups says who works with whom by the roster; add --roster");
    }
    Groups groups = Groups::parse(read_file(request_.groups), request_.groups.string(), *roster);
    keep_file("groups", "table of groups", before, groups.kept(), request_.groups);
    return groups;
  }

  /// What is kept of a file, in place of what was kept before; the command may name no file.
  /// @param what it is, in words
  void keep_file(const std::string& name, const std::string& what,
                 const std::optional<std::string>& before, const std::string& text,
                 const std::filesystem::path& file) {
    if (before && *before != text && !file.empty()) {
      replaced_.push_back(fmt::format("the {} is replaced by {}", what, file.string()));
    }
    set(name, text);
  }

  LatePolicy policy() {
    const LatePolicy::Calendar due = calendar();
    const auto policy = text("policy", request_.policy);
    if (!policy) return LatePolicy(due);
    return LatePolicy::parse(*policy, name_of(request_.policy, "the late policy"), due);
  }

  /// When each part is due by the course's calendar. It is kept, so that a class that is looked at
  /// again in another year, by another calendar or by none, is not late by that.
  LatePolicy::Calendar calendar() {
    LatePolicy::Calendar due;
    for (const int part : numbers_of(kept_.at("parts"))) {
      const auto now = request_.due.find(part);
      const std::string text = word(
          due_date_setting(part),
          now == request_.due.end() ? std::nullopt : std::optional(toml_text_of(now->second)), "");
      if (!text.empty()) due[part] = moment_of(text, "the calendar").seconds;
    }
    return due;
  }

  static std::string name_of(const std::filesystem::path& file, const char* otherwise) {
    return file.empty() ? otherwise : file.string();
  }

  const BatchRequest& request_;
  Store& store_;
  std::map<std::string, std::string> kept_;
  std::vector<std::string> replaced_;
};

/// The longest that a grading may take: every case of every task at its limit, after its builds,
/// and behind those of the others where they wait for one real GPU. What it holds its guests to
/// ends it far sooner, so that only a grader that hangs comes to this.
double limit_of(const Course& course, const BatchWork& work, const std::string& device) {
  if (work.limit_s > 0) return work.limit_s;
  constexpr double kBuilds = 300, kMargin = 2;
  constexpr double kRunsOfVersion = 10;  // of a kernel that a work log keeps
  double longest = 0;
  for (const PartSpec& part : course.parts) {
    double seconds = 0;
    for (const TaskSpec& task : part.tasks) {
      const auto runs = static_cast<double>(task.cases.size() + task.speeds.size());
      const int versions = task.kind == TaskKind::worklog ? course.versions_graded_again : 0;
      seconds += kBuilds + runs * task.time_limit_s;
      seconds += versions * (kBuilds + kRunsOfVersion * task.time_limit_s);
    }
    longest = std::max(longest, seconds);
  }
  const bool waits = !device.starts_with("sim:");
  return kMargin * longest * (waits ? work.jobs : 1);
}

/// Of the roofline; any will do where nothing was graded.
gpu_spec::GpuSpec gpu_of(const ClassResults& results, const std::filesystem::path& specs) {
  const std::string name = results.gpu.empty() ? gpu_spec::list(specs).at(0) : results.gpu;
  return gpu_spec::find(specs, name);
}

}  // namespace

std::vector<int> parts_of_batch(Store& store) {
  return numbers_of(store.setting("parts").value_or(""));
}

LatePolicy kept_policy(Store& store) {
  LatePolicy::Calendar due;
  for (const int part : parts_of_batch(store)) {
    const std::string text = store.setting(due_date_setting(part)).value_or("");
    if (!text.empty()) due[part] = moment_of(text, "the calendar").seconds;
  }
  const auto policy = store.setting("policy");
  return policy ? LatePolicy::parse(*policy, "the late policy", due) : LatePolicy(due);
}

Batch::Batch(const BatchRequest& request)
    : request_(request), folder_(request.out), store_(folder_.database()) {
  settings_ = Settler(request_, store_).run();
}

void Batch::tell_strangers_of_policy(BatchListener& listener) {
  std::set<std::string> names;
  for (const Student& student : store_.students()) {
    for (const std::string& name : names_of(student)) names.insert(name);
  }
  for (const std::string& student : settings_.policy.named_students()) {
    if (names.contains(student)) continue;
    listener.say(fmt::format(
        "the late policy has an extension for {0}, or slip days that {0} has spent, who is not in "
        "the class; use a key, login, e-mail address or SIS id",
        student));
  }
}

void Batch::choose_submissions(BatchListener& listener) {
  for (const std::string& name : request_.choose) {
    listener.say(
        rooflab::choose_submission(store_, name, {.by = request_.by, .at = std::time(nullptr)}));
  }
}

void Batch::import_manual(const Course& course, BatchListener& listener) {
  if (request_.manual.empty()) return;
  const ManualImport import = import_manual_points(store_, course, read_file(request_.manual),
                                                   request_.manual.string(), std::time(nullptr));
  listener.say(fmt::format("{} points given by hand imported from {}", import.points,
                           request_.manual.string()));
  for (const std::string& line : import.replaced) listener.say("given otherwise before: " + line);
}

std::size_t Batch::import_requests(const Course& course, BatchListener& listener) {
  if (request_.requests.empty()) return 0;
  const std::string name = request_.requests.string();
  const RequestImport import =
      import_regrade_requests(store_, course, read_file(name), name, std::time(nullptr));
  listener.say(fmt::format("{} regrade requests imported from {}; {} were there before",
                           import.added, name, import.known));
  for (const std::string& line : import.refused) listener.say("not kept: " + line);
  return import.refused.size();
}

OutputOptions Batch::outputs(const BatchWork& work) const {
  return {.leaderboard = settings_.leaderboard,
          .assignment = settings_.assignment,
          .canvas_assignments = settings_.canvas_assignments,
          .code_titles = work.code_titles};
}

std::vector<HeldTest> Batch::hold_back_tests(ClassResults& results, const Course& course,
                                             const BatchWork& work, BatchListener& listener) {
  require_known(settings_.policy.held_tests(), course);
  std::vector<HeldTest> held = held_at(settings_.policy, work.now.value_or(std::time(nullptr)));
  hold_back(results, held, settings_.policy, store_, course);
  for (const PartSummary& part : results.parts) {
    if (part.held_until.empty()) continue;
    listener.say(
        fmt::format("part {}: {}; run the batch again then", part.number, held_back_words(part)));
  }
  return held;
}

BatchSummary Batch::write_outputs(const Course& course, const BatchWork& work,
                                  BatchListener& listener) {
  ClassResults results = collect(store_, course, settings_.policy);
  results.device = settings_.device;
  results.time_kind = store_.setting("time_kind").value_or("modelled");
  results.gpu = store_.setting("gpu").value_or("");
  const std::vector<HeldTest> held = hold_back_tests(results, course, work, listener);
  BatchSummary summary;
  std::set<std::string> said;  // partners have the same problems with the same submission
  const auto say_once = [&](const std::string& line) {
    if (said.insert(line).second) listener.say(line);
  };
  for (const StudentOutcome& student : results.students) {
    const bool is_of_class = !is_stranger(results, student);
    ++(is_of_class ? summary.students : summary.strangers);
    if (is_of_class && !student.submission.empty()) ++summary.submitted;
    if (!student.problems.empty() || !student.for_people.empty()) ++summary.problems;
    for (const PartOutcome& part : student.parts) {
      if (part.state == PartState::fault) ++summary.faults;
      if (part.state == PartState::ungraded) ++summary.ungraded;
      (is_of_class ? summary.pending : summary.pending_of_strangers) += part.pending.size();
    }
    for (const auto* lines : {&student.problems, &student.for_people}) {
      for (const std::string& line : *lines) {
        say_once(fmt::format("{}: {}", student.submission, line));
      }
    }
  }
  for (const std::string& problem : results.problems) listener.say(problem);
  for (const std::string& line : words_about_return(results)) listener.say(line);
  if (!results.problems.empty()) ++summary.problems;
  const LoadGrading load = [&](const std::string& grading) {
    GradeResult result = from_evidence(store_.evidence(grading));
    const auto part = std::ranges::find(course.parts, result.part, &PartSpec::number);
    return part == course.parts.end() ? result : without_held(std::move(result), held, *part);
  };
  for (const char* name : {"", "feedback", "gradescope"}) remove_unfinished(folder_.path() / name);
  Attempts attempts;
  attempts.make([&] {
    rooflab::write_outputs(folder_.path(), results, load, gpu_of(results, work.gpu_specs),
                           outputs(work));
  });
  attempts.make([&] {
    write_file_atomically(folder_.path() / "free_text.csv", free_text_table(store_, course));
  });
  attempts.make([&] {
    const std::string rubric = rubric_page(course);
    if (!rubric.empty()) write_file_atomically(folder_.path() / "free_text_rubric.md", rubric);
  });
  attempts.make([&] {
    write_file_atomically(folder_.path() / "hidden_cases.csv", hidden_case_table(store_, results));
  });
  attempts.make([&] { write_raw_answers(folder_.path(), store_, course); });
  attempts.end();
  return summary;
}

BatchSummary Batch::run(const Course& course, const BatchWork& work, Executor& executor,
                        BatchListener& heard_by) {
  ProgressFile listener(folder_.path(), heard_by);
  require_known(settings_.policy.held_tests(), course);
  take_class(store_, course, settings_.roster,
             {.submissions = settings_.submissions,
              .unpacker = work.unpacker,
              .sandbox = work.sandbox,
              .jobs = work.jobs,
              .groups = settings_.groups,
              .most_submissions = settings_.policy.most_submissions()},
             listener);
  for (const std::string& line : settings_.replaced) listener.say(line);
  tell_strangers_of_policy(listener);
  choose_submissions(listener);
  import_manual(course, listener);
  const std::size_t refused = import_requests(course, listener);
  const Plan plan = plan_gradings(
      store_, course,
      {.device = settings_.device, .seed = settings_.seed, .regrade = request_.regrade});
  for (const std::string& line : plan.said) listener.say(line);
  if (work.admit && !store_.pending().empty()) work.admit(settings_.device);
  const bool ended = run_gradings(store_, course, folder_, executor,
                                  {.sandbox = work.sandbox,
                                   .causes = work.causes,
                                   .threads = work.threads,
                                   .limit_s = limit_of(course, work, settings_.device),
                                   .at_once = work.jobs},
                                  listener);
  if (ended) folder_.remove_jobs();
  BatchSummary summary = write_outputs(course, work, listener);
  summary.stopped = !ended;
  summary.refused = refused;
  summary.outdated = plan.outdated.size();
  for (const std::string& one : plan.outdated) {
    listener.say(one + ": changed since it was graded; --regrade changed grades it again");
  }
  return summary;
}

}  // namespace rooflab

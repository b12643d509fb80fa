#include "grader/batch/take_class.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <future>
#include <map>
#include <set>
#include <tuple>

#include "grader/batch/store/choice_store.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

/// What stays in memory of a submission until the whole class is known.
struct Taken {
  SubmissionRow row;
  std::map<int, std::string> sources;
  bool names_itself = false;  ///< these two: see Submission
  bool owner_chose_time = false;
  bool is_beyond_limit = false;
};

/// Who handed a submission in, and what contradicts that; empty where nothing does.
struct People {
  std::vector<Student> students;
  std::string doubt = {};
};

std::string digits_of(std::string text) {
  std::erase_if(text, [](char c) { return c < '0' || c > '9'; });
  return text;
}

/// By what a platform gives one of several people feedback of their own. Canvas shows a comment to
/// the whole group, and a repository's is read by all who share it, but a page is about one student
/// alone; Gradescope has one result for all of them.
std::string return_name_of(const SubmissionRow& row, const Student& student, std::size_t person) {
  switch (row.platform) {
    case Platform::moodle:
      return person == 0 ? row.return_name : digits_of(student.moodle_identifier);
    case Platform::gradescope:
      return person == 0 ? row.return_name : "";
    case Platform::none:
    case Platform::canvas:
    case Platform::git:
      break;
  }
  return "";
}

/// Without a roster a submission says whose it is, by the best that it has.
Student stranger(const Submission& submission, const StudentHints& hints) {
  Student student;
  student.name = one_line(hints.name);
  student.email = one_line(hints.email);
  student.login = one_line(hints.login);
  student.sis_id = one_line(hints.sis_id);
  student.canvas_id = one_line(hints.canvas_id);
  student.moodle_identifier = one_line(hints.moodle_identifier);
  for (const std::string& name : {student.sis_id, student.login, student.email, student.canvas_id,
                                  student.moodle_identifier, student.name, submission.entry.id}) {
    if (name.empty()) continue;
    student.key = name;
    break;
  }
  if (student.name.empty()) student.name = submission.called;
  return student;
}

/// Not on the roster: nobody's place in the gradebook, and no way to take somebody's by its name.
Student unknown(const Submission& submission, const StudentHints& hints, const std::string& id) {
  Student student = stranger(submission, hints);
  student.key = "unknown " + id;
  return student;
}

class ClassTaker {
 public:
  ClassTaker(Store& store, const Course& course, const std::optional<Roster>& roster,
             const TakeOptions& options, BatchListener& listener)
      : store_(store), course_(course), roster_(roster), options_(options), listener_(listener) {}

  void run() {
    const auto entries = list_submissions(options_.submissions);
    const IntakeOptions intake{.wanted = course_.wanted_files(),
                               .unpacker = options_.unpacker,
                               .sandbox = options_.sandbox};
    Transaction transaction = store_.begin();
    keep_roster();
    store_.forget_presence();
    for (std::size_t first = 0; first < entries.size(); first += options_.jobs) {
      const std::size_t last = std::min<std::size_t>(first + options_.jobs, entries.size());
      std::vector<std::future<Submission>> group;
      for (std::size_t i = first; i < last; ++i) {
        group.push_back(
            std::async(std::launch::async, take_in, std::cref(entries[i]), std::cref(intake)));
      }
      for (auto& submission : group) keep(submission.get());
      listener_.progress(
          {.stage = "taking in", .done = last, .total = entries.size(), .left_s = {}});
    }
    choices_ = ChoiceStore(store_).all();
    for (auto& [student, taken] : by_student_) choose(student, taken);
    transaction.commit();
  }

 private:
  void keep_roster() {
    if (!roster_) return;
    store_.forget_roster();
    int position = 0;
    for (Student student : roster_->students()) {
      student.on_roster = true;
      store_.put_student(student, position++);
    }
  }

  Student student_of(const Submission& submission, const StudentHints& hints,
                     const std::string& id) const {
    if (!roster_) return stranger(submission, hints);
    auto known = roster_->find(hints);
    return known ? *known : unknown(submission, hints, id);
  }

  /// A row for each who handed it in.
  void keep(const Submission& submission) {
    Taken taken{.row = {.id = submission.entry.id,
                        .student = {},
                        .called = submission.called,
                        .received = submission.received_at,
                        .marked_late = submission.marked_late,
                        .counts = true,
                        .problem = submission.problem,
                        .notes = submission.notes,
                        .doubts = submission.doubts,
                        .platform = submission.platform,
                        .return_name = submission.return_name},
                .sources = {},
                .names_itself = submission.names_itself,
                .owner_chose_time = submission.owner_chose_time};
    for (const PartSpec& part : course_.parts) {
      const SourceFiles files = Course::files_of(part, submission.files);
      if (files.empty()) continue;
      const std::string hash = source_hash(part.number, files);
      store_.put_source(hash, files);
      taken.sources[part.number] = hash;
    }
    const auto [people, doubt] = people_of(submission);
    if (people.size() > 1) {
      taken.row.notes.push_back(fmt::format("{} students handed it in together.", people.size()));
    }
    if (!doubt.empty() && taken.row.problem.empty()) taken.row.doubts.push_back(doubt);
    const SubmissionRow whole = taken.row;
    for (std::size_t i = 0; i < people.size(); ++i) {
      taken.row.id = row_id(submission, i);
      if (people.size() > 1) taken.row.return_name = return_name_of(whole, people[i], i);
      give(people[i], taken);
    }
  }

  static std::string row_id(const Submission& submission, std::size_t person) {
    return person == 0 ? submission.entry.id
                       : fmt::format("{}~{}", submission.entry.id, person + 1);
  }

  /// Who handed it in: as the platform says, or the members of the group that it is called after.
  std::vector<Student> delivered_for(const Submission& submission) const {
    if (roster_) {
      std::vector<Student> group = roster_->group_of(submission.hints);
      if (!group.empty()) return group;
    }
    std::vector<Student> people = {student_of(submission, submission.hints, row_id(submission, 0))};
    for (const StudentHints& partner : submission.partners) {
      people.push_back(student_of(submission, partner, row_id(submission, people.size())));
    }
    return people;
  }

  /// Those, and who works with them by the table of groups.
  People people_of(const Submission& submission) const {
    People people{delivered_for(submission)};
    std::set<std::string> keys, groups;
    for (const Student& student : people.students) {
      keys.insert(student.key);
      groups.insert(options_.groups.group_of(student.key));
    }
    if (groups.size() > 1) {
      people.doubt = fmt::format(
          "{} handed it in together, and are not one group in the table of groups; correct one of "
          "the two",
          one_line(fmt::format("{}", fmt::join(keys, " and "))));
      return people;
    }
    for (const std::string& key : options_.groups.members_of(*groups.begin())) {
      if (keys.contains(key)) continue;
      const auto member = std::ranges::find(roster_->students(), key, &Student::key);
      if (member != roster_->students().end()) people.students.push_back(*member);
    }
    return people;
  }

  void give(Student student, Taken taken) {
    student.on_roster = roster_ && !student.key.starts_with("unknown ");
    if (!student.on_roster) store_.put_student(student, 0);
    taken.row.student = student.key;
    by_student_[student.key].push_back(std::move(taken));
  }

  /// Of more submissions than the policy takes, those that came in first are left.
  void keep_to_limit(std::vector<Taken>& taken) const {
    if (!options_.most_submissions) return;
    const std::size_t most = *options_.most_submissions;
    std::vector<Taken*> timely;
    for (Taken& one : taken) {
      if (one.row.problem.empty() && !one.names_itself) timely.push_back(&one);
    }
    if (timely.size() <= most) return;
    std::ranges::stable_sort(timely, {},
                             [](const Taken* one) { return one->row.received.value_or(0); });
    const bool is_certain = std::ranges::all_of(
        timely, [](const Taken* one) { return one->row.received && !one->owner_chose_time; });
    for (std::size_t i = 0; i < timely.size(); ++i) {
      SubmissionRow& row = timely[i]->row;
      timely[i]->is_beyond_limit = i >= most;
      row.notes.push_back(fmt::format(
          "{} were handed in, and the policy takes the first {}: {}", timely.size(), most,
          i < most ? "the newest of these counts" : "this one came in after them"));
      if (is_certain) continue;
      row.doubts.push_back(fmt::format(
          "{} were handed in, of which the first {} are taken, and no time of a platform says of "
          "each when it came in; remove those that came in later and run the batch again",
          timely.size(), most));
    }
  }

  /// Those that may be the newest, `taken` being in the order of their times: no platform's time
  /// says that they are older than the first. None where that leaves one of them alone, or all are
  /// the same.
  static std::vector<Taken*> candidates_of(std::vector<Taken>& taken) {
    Taken& first = taken.front();
    std::vector<Taken*> candidates;
    for (Taken& one : taken) {
      const bool is_rival =
          one.row.problem.empty() && !one.is_beyond_limit && one.names_itself == first.names_itself;
      const bool is_older = one.row.received != first.row.received && !first.owner_chose_time;
      if (is_rival && !is_older) candidates.push_back(&one);
    }
    const bool differ = std::ranges::any_of(
        candidates, [&](const Taken* one) { return one->sources != first.sources; });
    return differ ? candidates : std::vector<Taken*>();
  }

  /// Marks the candidates, and brings the one to the front that somebody has chosen.
  /// @return whether it is known which submission counts
  bool decide(const std::string& student, std::vector<Taken>& taken) const {
    const std::vector<Taken*> candidates = candidates_of(taken);
    if (candidates.empty()) return true;
    std::set<std::string> ids;
    for (Taken* one : candidates) {
      one->row.candidate = true;
      ids.insert(one->row.id);
    }
    const auto choice = choices_.find(student);
    if (choice == choices_.end() || !choice->second.decides(ids)) return false;
    std::ranges::stable_partition(
        taken, [&](const Taken& one) { return one.row.id == choice->second.submission; });
    return true;
  }

  /// Of several submissions of one student the newest counts that could be taken in; where no time
  /// tells, the one that somebody has chosen, and none before that. One that only says itself whose
  /// it is, or when it was handed in, takes nobody's place: anybody can write another's name into a
  /// file or upon an archive, so somebody has to look.
  void choose(const std::string& student, std::vector<Taken>& taken) {
    keep_to_limit(taken);
    const auto rank = [](const Taken& one) {
      return std::tuple(!one.is_beyond_limit, !one.names_itself, one.row.problem.empty(),
                        one.row.received.value_or(0));
    };
    std::ranges::stable_sort(taken,
                             [&](const Taken& a, const Taken& b) { return rank(a) > rank(b); });
    const bool is_decided = decide(student, taken);
    for (Taken& one : taken) {
      one.row.counts = is_decided && &one == &taken.front();
      if (&one == &taken.front() || one.row.candidate) continue;
      one.row.notes.push_back(
          fmt::format("{} of the same student or group counts in its place", taken[0].row.called));
    }
    if (!taken.front().names_itself && taken.back().names_itself) {
      taken.front().row.doubts.push_back(fmt::format(
          "{} says, in a file of its own, that it is of this student too; find out whose "
          "it is",
          taken.back().row.called));
    }
    for (const Taken& one : taken) {
      store_.put_submission(one.row);
      store_.put_handed_in(one.row.id, one.sources);
    }
  }

  Store& store_;
  const Course& course_;
  const std::optional<Roster>& roster_;
  const TakeOptions& options_;
  BatchListener& listener_;
  std::map<std::string, std::vector<Taken>> by_student_;
  std::map<std::string, SubmissionChoice> choices_;
};

}  // namespace

void take_class(Store& store, const Course& course, const std::optional<Roster>& roster,
                const TakeOptions& options, BatchListener& listener) {
  ClassTaker(store, course, roster, options, listener).run();
}

}  // namespace rooflab

#include "grader/author/verify/course.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "grader/author/verify/generated.h"
#include "grader/author/verify/grading_command.h"
#include "grader/author/verify/judge.h"
#include "grader/author/verify/programs.h"
#include "grader/pipeline/grade.h"
#include "grader/spec/course_spec.h"

namespace rooflab::verify {
namespace {

// Whole parts take longest: they start first, so that no long one runs alone at the end.
constexpr int kWholePart = 2;
constexpr int kStarter = 1;

std::set<Proof> chosen_proofs(const Choice& choice) {
  std::set<Proof> proofs;
  for (const std::string& name : choice.proofs) {
    const auto proof = proof_of(name);
    if (!proof) {
      std::string names;
      for (const Proof one : kProofs)
        names += (names.empty() ? "" : ", ") + std::string(name_of(one));
      throw UsageError(fmt::format("there is no proof {}; there are {}", name, names));
    }
    proofs.insert(*proof);
  }
  const bool chose_kinds = !proofs.empty();
  if (!choice.mistakes.empty()) {
    if (chose_kinds && !proofs.contains(Proof::mistakes)) {
      throw UsageError("--mistake chooses among mistakes; leave --only out, or name mistakes too");
    }
    proofs.insert(Proof::mistakes);
  }
  if (!choice.right.empty()) {
    if (chose_kinds && !proofs.contains(Proof::right)) {
      throw UsageError(
          "--right chooses among right submissions; leave --only out, or name right too");
    }
    proofs.insert(Proof::right);
  }
  if (proofs.empty()) proofs.insert(std::begin(kProofs), std::end(kProofs));
  return proofs;
}

/// Each once, in the order in which the course has them.
std::vector<int> chosen_parts(const Installation& installation, const Choice& choice) {
  std::vector<int> parts = list_parts(installation.labs());
  if (choice.parts.empty()) return parts;
  for (const int part : choice.parts) {
    if (std::ranges::find(parts, part) == parts.end()) {
      load_part(installation.labs(), {}, part);  // says which there are
    }
  }
  std::erase_if(
      parts, [&](int part) { return std::ranges::find(choice.parts, part) == choice.parts.end(); });
  return parts;
}

std::vector<gpu_spec::GpuSpec> chosen_gpus(const Installation& installation, const Choice& choice) {
  const auto listed = load_course_spec(installation.labs()).gpus;
  std::vector<gpu_spec::GpuSpec> gpus;
  for (const std::string& name : choice.gpus.empty() ? listed : choice.gpus) {
    if (std::ranges::find(listed, name) == listed.end()) {
      gpu_spec::find(installation.gpus(), name);  // says which there are
      throw UsageError(fmt::format(
          "--gpu {0}: labs/course.toml lists {1}; name one of them, or add {0} to `gpus` there",
          name, fmt::join(listed, ", ")));
    }
    gpu_spec::GpuSpec gpu = gpu_spec::find(installation.gpus(), name);
    if (std::ranges::find(gpus, gpu.id, &gpu_spec::GpuSpec::id) == gpus.end()) {
      gpus.push_back(std::move(gpu));
    }
  }
  return gpus;
}

/// Leaves the named mistakes or right submissions alone.
/// @param what "planted mistake", in `folder` of a part
/// @throws UsageError for a name that no chosen part has.
template <typename Submission>
void choose(std::map<int, std::vector<Submission>>& submissions,
            const std::vector<std::string>& names, const char* what, const char* folder) {
  if (names.empty()) return;
  std::set<std::string> known;
  for (auto& [part, of_part] : submissions) {
    std::erase_if(of_part, [&](const Submission& one) {
      return std::ranges::find(names, one.name) == names.end();
    });
    for (const Submission& one : of_part) known.insert(one.name);
  }
  for (const std::string& name : names) {
    if (known.contains(name)) continue;
    throw UsageError(fmt::format(
        "no chosen part has a {} {}; they are the folders labs/<part>/{}/*", what, name, folder));
  }
}

std::vector<std::string> grade(const Installation& installation, const Graded& graded,
                               const std::filesystem::path& submission,
                               const std::filesystem::path& folder) {
  return grading_command(installation, graded.part.number, "sim:" + graded.gpu.id, submission,
                         folder);
}

Check starter_check(const Course& course, const Graded& graded) {
  const auto& installation = course.installation;
  return {
      .claim = {.proof = Proof::starter, .part = graded.part.number, .gpu = graded.gpu.id},
      .weight = kStarter,
      .command =
          [&installation, graded](const std::filesystem::path& folder) {
            return grade(installation, graded, installation.starter(), folder);
          },
      .judge = [&installation, graded](
                   const Ran& ran) { return judge_starter(graded, ran, installation.starter()); }};
}

Check solution_check(const Course& course, const Graded& graded) {
  const auto& installation = course.installation;
  return {.claim = {.proof = Proof::solution, .part = graded.part.number, .gpu = graded.gpu.id},
          .weight = kWholePart,
          .command =
              [&installation, graded](const std::filesystem::path& folder) {
                return grade(installation, graded, installation.solutions(), folder);
              },
          .judge = [graded](const Ran& ran) { return judge_solution(graded, ran); }};
}

/// A submission of a task that the GPU cannot run: nothing to run, nothing to say.
Check inapplicable_check(Claim claim, const std::string& task, bool held_out) {
  return {.claim = std::move(claim), .judge = [task, held_out](const Ran&) {
            Outcome outcome;
            outcome.not_applicable = {task};
            outcome.applicable = false;
            outcome.held_out = held_out;
            return outcome;
          }};
}

const TaskSpec& task_of(const Graded& graded, const std::string& id) {
  return *std::ranges::find(graded.part.tasks, id, &TaskSpec::id);
}

bool is_left_out(const Graded& graded, const std::string& task) {
  return cannot_run(task_of(graded, task), graded.gpu);
}

/// Whether the GPU cannot run it, or has no memory for any case that would show it.
bool is_left_out(const Graded& graded, const Mistake& mistake) {
  const auto shows = [&](const CaseSpec& spec) {
    return spec.vast_gb >= mistake.vast_gb && has_room(spec, graded.gpu.dram_bytes);
  };
  return is_left_out(graded, mistake.task) ||
         graded.gpu.compute_capability() < mistake.compute_capability ||
         (mistake.vast_gb > 0 && std::ranges::none_of(task_of(graded, mistake.task).cases, shows));
}

/// Grades one task of a submission that `Submission`'s write_submission makes.
template <typename Submission>
std::function<std::vector<std::string>(const std::filesystem::path&)> grade_task(
    const Installation& installation, const Graded& graded, const Submission& one) {
  return [&installation, graded, &one](const std::filesystem::path& folder) {
    const auto submission = folder / "submission";
    write_submission(one, graded.part, installation.solutions(), submission);
    auto words = grade(installation, graded, submission, folder);
    words.insert(words.end(), {"--task", one.task});
    return words;
  };
}

Check mistake_check(const Course& course, const Graded& graded, const Mistake& mistake) {
  Claim claim{.proof = Proof::mistakes,
              .part = graded.part.number,
              .gpu = graded.gpu.id,
              .name = mistake.name};
  if (is_left_out(graded, mistake)) {
    return inapplicable_check(std::move(claim), mistake.task, mistake.held_out);
  }
  return {
      .claim = std::move(claim),
      .command = grade_task(course.installation, graded, mistake),
      .judge = [graded, &mistake](const Ran& ran) { return judge_mistake(graded, ran, mistake); }};
}

Check right_check(const Course& course, const Graded& graded, const RightSubmission& right) {
  Claim claim{
      .proof = Proof::right, .part = graded.part.number, .gpu = graded.gpu.id, .name = right.name};
  if (is_left_out(graded, right.task)) {
    return inapplicable_check(std::move(claim), right.task, false);
  }
  return {.claim = std::move(claim),
          .command = grade_task(course.installation, graded, right),
          .judge = [graded, &right](const Ran& ran) { return judge_right(graded, ran, right); }};
}

}  // namespace

Course load_course(const Installation& installation, const Choice& choice) {
  Course course;
  course.installation = installation;
  course.proofs = chosen_proofs(choice);
  for (const int number : chosen_parts(installation, choice)) {
    course.parts.push_back(load_part(installation.labs(), installation.solutions(), number));
  }
  course.gpus = chosen_gpus(installation, choice);
  if (course.wants(Proof::mistakes)) {
    for (const PartSpec& part : course.parts) course.mistakes[part.number] = load_mistakes(part);
    choose(course.mistakes, choice.mistakes, "planted mistake", "mistakes");
  }
  if (course.wants(Proof::right)) {
    for (const PartSpec& part : course.parts) {
      course.right[part.number] = load_right_submissions(part);
    }
    choose(course.right, choice.right, "right submission", "right");
  }
  return course;
}

std::vector<Check> plan(const Course& course) {
  std::vector<Check> checks;
  const auto for_each_graded = [&](Proof proof, const auto& add) {
    if (!course.wants(proof)) return;
    for (const PartSpec& part : course.parts) {
      for (const gpu_spec::GpuSpec& gpu : course.gpus) add(Graded{part, gpu});
    }
  };
  for_each_graded(Proof::starter,
                  [&](const Graded& graded) { checks.push_back(starter_check(course, graded)); });
  for_each_graded(Proof::solution,
                  [&](const Graded& graded) { checks.push_back(solution_check(course, graded)); });
  for_each_graded(Proof::mistakes, [&](const Graded& graded) {
    for (const Mistake& mistake : course.mistakes.at(graded.part.number)) {
      checks.push_back(mistake_check(course, graded, mistake));
    }
  });
  for_each_graded(Proof::right, [&](const Graded& graded) {
    for (const RightSubmission& right : course.right.at(graded.part.number)) {
      checks.push_back(right_check(course, graded, right));
    }
  });
  if (course.wants(Proof::generated)) checks.push_back(generated_check(course.installation));
  if (course.wants(Proof::documents)) {
    std::ranges::move(document_checks(course.installation), std::back_inserter(checks));
  }
  if (course.wants(Proof::release)) checks.push_back(release_check(course.installation));
  if (checks.empty()) {
    throw UsageError("nothing that was chosen has anything to prove; see grader verify --help");
  }
  return checks;
}

}  // namespace rooflab::verify

#include "grader/author/verify/course.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "grader/author/verify/generated.h"
#include "grader/author/verify/grading_command.h"
#include "grader/author/verify/judge.h"
#include "grader/author/verify/programs.h"
#include "grader/author/verify/symptoms.h"
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
  if (!choice.mistakes.empty()) {
    if (proofs.empty()) proofs.insert(Proof::mistakes);
    if (!proofs.contains(Proof::mistakes)) {
      throw UsageError("--mistake chooses among mistakes; leave --only out, or name mistakes too");
    }
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

/// Leaves the named mistakes alone. @throws UsageError for a name that no chosen part has.
void choose_mistakes(std::map<int, std::vector<Mistake>>& mistakes,
                     const std::vector<std::string>& names) {
  if (names.empty()) return;
  std::set<std::string> known;
  for (auto& [part, of_part] : mistakes) {
    std::erase_if(of_part, [&](const Mistake& mistake) {
      return std::ranges::find(names, mistake.name) == names.end();
    });
    for (const Mistake& mistake : of_part) known.insert(mistake.name);
  }
  for (const std::string& name : names) {
    if (known.contains(name)) continue;
    throw UsageError(fmt::format(
        "no chosen part has a planted mistake {}; they are the folders labs/<part>/mistakes/*",
        name));
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

/// A mistake in a task that the GPU cannot run: nothing to run, nothing to say.
Check inapplicable_check(Claim claim, const Mistake& mistake) {
  return {.claim = std::move(claim), .judge = [&mistake](const Ran&) {
            Outcome outcome;
            outcome.not_applicable = {mistake.task};
            outcome.applicable = false;
            outcome.held_out = mistake.held_out;
            return outcome;
          }};
}

Check mistake_check(const Course& course, const Graded& graded, const Mistake& mistake) {
  const auto& installation = course.installation;
  Claim claim{.proof = Proof::mistakes,
              .part = graded.part.number,
              .gpu = graded.gpu.id,
              .name = mistake.name};
  const auto task = std::ranges::find(graded.part.tasks, mistake.task, &TaskSpec::id);
  if (cannot_run(*task, graded.gpu)) return inapplicable_check(std::move(claim), mistake);
  return {.claim = std::move(claim),
          .command =
              [&installation, graded, &mistake](const std::filesystem::path& folder) {
                const auto submission = folder / "submission";
                write_submission(mistake, graded.part, installation.solutions(), submission);
                auto words = grade(installation, graded, submission, folder);
                words.insert(words.end(), {"--task", mistake.task});
                return words;
              },
          .judge = [graded, &mistake, &symptoms = course.symptoms](
                       const Ran& ran) { return judge_mistake(graded, ran, mistake, symptoms); }};
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
    course.symptoms = load_symptoms(installation.root / "docs" / "design" / "codes.md");
    for (const PartSpec& part : course.parts) course.mistakes[part.number] = load_mistakes(part);
    choose_mistakes(course.mistakes, choice.mistakes);
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

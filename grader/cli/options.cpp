#include "grader/cli/options.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

#include "grader/cli/course_name.h"
#include "grader/report/text.h"
#include "grader/spec/part.h"

namespace rooflab {
namespace {

constexpr int kUsageError = 2;
constexpr const char* kAbout = R"(Grades the labs of the course on a GPU, real or simulated.

  grader                      where you are, and what is next
  grader --part 1             grade a part
  grader --task gemv          grade a task; with --case 2 one case of it
  grader --task gemv --hint   the next hint for it, or for what failed first
  grader explain RL0301       what a diagnosis means
)";

struct Flags {
  bool list = false;
  bool hint = false;
  bool no_sandbox = false;
  bool check_starter = false;
  bool batch_no_sandbox = false;
};

void add_seed(CLI::App& command, std::optional<Seed>& seed, const char* about) {
  const auto read = [&seed](const std::string& text) {
    try {
      seed = seed_of(text);
    } catch (const std::invalid_argument& error) {
      throw CLI::ValidationError("--seed", error.what());
    }
  };
  command.add_option_function<std::string>("--seed", read, about)->type_name("SEED");
}

void add_student(CLI::App& app, std::string& student) {
  const auto read = [&student](const std::string& text) {
    const auto id = student_id(text);
    if (!id) {
      throw CLI::ValidationError(
          "--student", "this is no ID; one has up to 100 bytes of UTF-8 and no control characters");
    }
    student = *id;
  };
  app.add_option_function<std::string>(
         "--student", read,
         "Your ID: ask questions with your own numbers (default: the one in answers.toml)")
      ->type_name("ID");
}

void add_causes(CLI::App& command, std::string& causes) {
  command
      .add_option("--causes", causes,
                  "How much is tried to find out why a case fails: full, or quick for what the "
                  "cases themselves show")
      ->check(CLI::IsMember({"full", "quick"}))
      ->capture_default_str();
}

void add_grade_options(CLI::App& app, Options& options, Flags& flags) {
  app.add_option("--part", options.part, "Number of the part to grade")
      ->check(CLI::Range(0, kLastPart));
  app.add_option("--task", options.task, "Grade only this task");
  app.add_option("--case", options.case_number, "Run only this public case of the task, from 1")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--submission", options.submission,
                 "Folder with the layout of starter/ (default: starter)");
  add_student(app, options.student);
  app.add_option("--device", options.device,
                 "auto, cuda[:index] or sim[:gpu] (default: that of labs/course.toml, or auto)");
  app.add_flag("--any-gpu", options.any_gpu,
               "Simulate a GPU too that labs/course.toml does not list, to try a course on it");
  app.add_option("--json", options.json, "Write the result as JSON; - for standard output");
  app.add_option("--sarif", options.sarif,
                 "Write the diagnoses as SARIF, for editors and code hosts");
  app.add_flag("--problems", options.problems,
               "Print the diagnoses as compilers do, for an editor's problem matcher; the report "
               "goes to standard error");
  app.add_option("--html", options.html, "Write the report here (default: out/part<N>.html)");
  app.add_option("--trace", options.trace, "Write what the device did as a Chrome trace");
  app.add_option("--explore", options.explore,
                 "Write the smallest failing public case as a page to step through, line by line");
  add_seed(app, options.seed, "Seed of the inputs, to replay a grade");
  add_causes(app, options.causes);
  app.add_flag("--list", flags.list,
               "List the part's tasks, cases and questions, and grade nothing");
  const auto hint = [&](const std::string& group) {
    flags.hint = true;
    options.hint_group = group;
  };
  app.add_option_function<std::string>("--hint", hint,
                                       "Show the next hint for the task, and grade nothing: for "
                                       "the function or question of that name, or else for the "
                                       "one that failed first in the last run")
      ->expected(0, 1)
      ->type_name("[NAME]");
  app.add_option_function<std::vector<std::string>>(
         "--log",
         [&options](const std::vector<std::string>& words) {
           options.log = words.empty() ? "" : words.front();
         },
         "Keep the run in the part's work log, with what you expect of it")
      ->type_name("TEXT")
      ->expected(0, 1);
  app.add_flag("--watch", options.watch, "Grade tasks again whenever one of their files is saved");
  app.add_flag("--no-sandbox", flags.no_sandbox,
               "Run submissions with limits but without isolation");
}

void add_batch_options(CLI::App& command, BatchOptions& batch, Flags& flags) {
  command.add_option("SUBMISSIONS", batch.submissions,
                     "Folder of the submissions: folders, archives or single files");
  command.add_option("--out", batch.out, "Folder for the grades and all that explains them")
      ->required();
  command.add_option("--part", batch.parts, "Grade this part; may be given several times")
      ->check(CLI::Range(0, kLastPart))
      ->allow_extra_args(false);
  // An unset variable of a script would leave out a policy without a word.
  const CLI::Validator named(
      [](const std::string& file) { return file.empty() ? "it names no file" : std::string(); },
      "");
  command.add_option("--roster", batch.roster, "CSV file of the students")->check(named);
  command
      .add_option(
          "--policy", batch.policy,
          "TOML file: what being late costs, how many submissions are taken, which tests wait "
          "for the deadline")
      ->check(named);
  command.add_option("--groups", batch.groups, "CSV file that says who works with whom")
      ->check(named);
  command
      .add_option("--choose", batch.choose,
                  "Submission that counts, of several of one student among which no time decides; "
                  "may be given several times")
      ->allow_extra_args(false);
  command.add_option("--manual", batch.manual, "CSV file of points that people gave")->check(named);
  command.add_option("--requests", batch.requests, "CSV or TOML file of regrade requests")
      ->check(named);
  command.add_option("--device", batch.device, "auto, cuda[:index] or sim[:gpu]");
  command.add_option("--jobs", batch.jobs, "Submissions graded at a time (default: one per CPU)")
      ->check(CLI::Range(1, 1024));
  command
      .add_option("--executor", batch.executor, "Where gradings run: local, slurm or kubernetes")
      ->check(CLI::IsMember({"local", "slurm", "kubernetes"}))
      ->capture_default_str();
  command
      .add_option("--executor-argument", batch.executor_arguments,
                  "For sbatch (--executor-argument=--partition=gpu) or for the Kubernetes Job "
                  "(--executor-argument=--image=registry/rooflab:1)")
      ->allow_extra_args(false);
  command.add_flag("--resume", batch.resume,
                   "Go on with the batch in --out, which is what happens anyway if there is one");
  command
      .add_option("--regrade", batch.regrade,
                  "Grade again: a student, failed (what the grader failed at), changed, part=2, "
                  "task=gemm, lost=gemm, code=RL0305 or version=grader, part or hidden; those that "
                  "several fit with commas between")
      ->allow_extra_args(false);
  command
      .add_option("--regrade-counts", batch.regrade_counts,
                  "Which grade counts after a regrade: latest or best")
      ->check(CLI::IsMember({"latest", "best"}));
  command.add_option("--replay", batch.replay,
                     "Grade what a student handed in once more and compare; changes nothing");
  command
      .add_flag("--reveal", batch.reveal,
                "With --replay: show what hidden cases expected and got, for instructors alone")
      ->needs("--replay");
  command
      .add_option("--compare", batch.compare,
                  "Folder of an earlier batch of this class: say whose points differ, and why; "
                  "grades nothing")
      ->excludes("--replay");
  command
      .add_option("--forget", batch.forget,
                  "Remove a student with everything that is of nobody else, and say what is left; "
                  "grades nothing")
      ->check(CLI::Validator(
          [](const std::string& who) { return who.empty() ? "it names nobody" : std::string(); },
          ""))
      ->excludes("--replay")
      ->excludes("--compare");
  add_seed(command, batch.seed, "What the seeds of all inputs are made from");
  command.add_option("--assignment", batch.assignment, "Its name in gradebooks (default: Rooflab)");
  command
      .add_option("--canvas-assignment", batch.canvas_assignments,
                  "A part and the number that Canvas gave to its assignment, as in 1=48213")
      ->allow_extra_args(false);
  command.add_flag("--leaderboard,!--no-leaderboard", batch.leaderboard,
                   "Show who is fastest, by name, or no longer");
  add_causes(command, batch.causes);
  command.add_flag("--no-sandbox", flags.batch_no_sandbox,
                   "Run submissions with limits but without isolation");
}

void add_commands(CLI::App& app, Options& options, Flags& flags) {
  const auto on = [&](CLI::App* command, Options::Command value) {
    command->callback([&options, value] { options.command = value; });
    return command;
  };
  on(app.add_subcommand("list", "List the parts"), Options::Command::list);
  on(app.add_subcommand("doctor", "Say what this machine has for grading, and what it lacks"),
     Options::Command::doctor);
  on(app.add_subcommand("update", "Bring starter/ up to date with a new kit, and keep your work"),
     Options::Command::update);
  auto* hand_in = on(app.add_subcommand("hand-in", "Pack what you hand in, and say what is in it"),
                     Options::Command::hand_in);
  hand_in
      ->add_option("--part", options.hand_in.parts,
                   "This part; may be given several times (default: the one that you have begun)")
      ->check(CLI::Range(0, kLastPart))
      ->allow_extra_args(false);
  hand_in->add_option("--submission", options.hand_in.submission,
                      "Folder with the layout of starter/ (default: starter)");
  hand_in->add_option("--output", options.hand_in.output,
                      "The archive (default: out/hand-in-part<N>.tar.gz)");
  hand_in->add_flag("!--no-journal", options.hand_in.journal, "Leave out your journal of runs");
  auto* journal = on(app.add_subcommand("journal",
                                        "Note your runs, to share them with your course; off "
                                        "unless you turn it on"),
                     Options::Command::journal);
  journal->add_option("what", options.journal.what, "on, off or show")
      ->check(CLI::IsMember({"on", "off", "show"}))
      ->capture_default_str();
  journal->add_flag("--delete", options.journal.remove,
                    "With off: remove the runs that were noted, too");
  journal->add_option("--submission", options.journal.submission,
                      "Folder with the layout of starter/ (default: starter)");
  auto* explain =
      on(app.add_subcommand("explain", "Explain a diagnosis code"), Options::Command::explain);
  explain->add_option("code", options.code, "As in RL0301")->required();
  auto* roofline = on(app.add_subcommand("roofline", "Show the peaks and ridge points of GPUs"),
                      Options::Command::roofline);
  roofline->add_option("--gpu", options.gpu,
                       "Only this GPU, with the rooflines of the timed tasks");
  auto* starter =
      on(app.add_subcommand("starter", "Make starter/ from solutions/"), Options::Command::starter);
  auto* write = starter->add_flag("--write", options.write_starter, "Write starter/");
  auto* check = starter->add_flag("--check", flags.check_starter,
                                  "Say how starter/ differs, and fail if it does");
  write->excludes(check);
  auto* batch = on(app.add_subcommand("batch", "Grade a whole class"), Options::Command::batch);
  add_batch_options(*batch, options.batch, flags);
  auto* review = on(app.add_subcommand("review", "Review a graded class in a browser"),
                    Options::Command::review);
  review->add_option("DIR", options.review.folder, "What grader batch was given as --out")
      ->required();
  review->add_option("--port", options.review.port, "Of 127.0.0.1 (default: any that is free)")
      ->check(CLI::Range(1, 65535));
  review->add_option("--as", options.review.by,
                     "Who reviews, for the history (default: your user name)");
  auto* job = on(app.add_subcommand("batch-job", "Grade one job of a batch (used by batch)"),
                 Options::Command::batch_job);
  job->group("");  // not for people
  job->add_option("folder", options.job)->required();
  auto* pages = on(app.add_subcommand("pages",
                                      "Write the handouts of the course's parts (used by "
                                      "scripts/site)"),
                   Options::Command::pages);
  pages->group("");
  pages->add_option("folder", options.folder)->required();
  auto* task = on(app.add_subcommand("batch-task", "Run one job of a list (used on clusters)"),
                  Options::Command::batch_task);
  task->group("");
  task->add_option("list", options.task_list)->required();
  task->add_option("index", options.task_index)->required();
}

void add_author_commands(CLI::App& app, Options& options) {
  const auto add = [&](const char* name, const char* what, Options::Command value) {
    CLI::App* command = app.add_subcommand(name, what);
    command->callback([&options, value] { options.command = value; });
    return command;
  };
  AuthorOptions& author = options.author;
  add_verify_options(
      *add("verify", "Prove that the course holds what it promises", Options::Command::verify),
      author.verify);
  add_release_options(*add("release", "Make the student kit", Options::Command::release),
                      author.release);
  add_new_part_options(*add("new-part", "Begin a new part", Options::Command::new_part),
                       author.new_part);
  add_calibrate_options(*add("calibrate", "Measure the peaks of a GPU, beside its data sheet",
                             Options::Command::calibrate),
                        author.calibrate);
  add_compare_times_options(*add("compare-times", "Hold the time model against measured times",
                                 Options::Command::compare_times),
                            author.compare_times);
  add_targets_options(*add("targets", "Show or measure what full marks for speed ask for by GPU",
                           Options::Command::targets),
                      author.targets);
  add("completion", "Print the tab completion of a shell", Options::Command::completion)
      ->add_option("shell", options.shell, "bash or zsh")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}));
}

/// What students type stands first.
void group_commands(CLI::App& app) {
  const std::set<std::string> of_students{"list",    "doctor",  "update",   "hand-in",
                                          "journal", "explain", "roofline", "completion"};
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    if (command->get_group().empty()) continue;
    command->group(of_students.contains(command->get_name()) ? "Commands for everybody"
                                                             : "Commands for those who teach");
  }
}

void add_everything(CLI::App& app, Options& options, Flags& flags) {
  add_grade_options(app, options, flags);
  add_commands(app, options, flags);
  add_author_commands(app, options);
  group_commands(app);
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", version_words);
}

void check_grade(const CLI::App& app, const Options& options, const Flags& flags) {
  if (app.count("--part") == 0 && !options.task) {
    throw CLI::ValidationError("name a part, as in grader --part 1");
  }
  if (flags.hint && !options.task)
    throw CLI::ValidationError("--hint wants --task: hints are for one task");
  if (options.case_number && !options.task) {
    throw CLI::ValidationError("--case counts the cases of one task; name it with --task");
  }
  if (options.log && (!options.task || options.case_number || options.watch)) {
    throw CLI::ValidationError(
        "--log keeps one whole run of a task: name it with --task, without --case or --watch");
  }
  if (options.html == "-" || options.trace == "-" || options.explore == "-" ||
      options.sarif == "-") {
    throw CLI::ValidationError(
        "--html, --trace, --explore and --sarif need a file; only --json writes to stdout");
  }
  if (options.problems && options.json == "-") {
    throw CLI::ValidationError("--problems and --json - both want standard output; leave one out");
  }
  if (options.watch && options.json == "-") {
    throw CLI::ValidationError(
        "--watch grades many times, --json - is for one document; leave one out");
  }
}

}  // namespace

void walk_command_line(const std::function<void(const CLI::App&)>& look) {
  CLI::App app(kAbout, "grader");
  Options options;
  Flags flags;
  add_everything(app, options, flags);
  look(app);
}

Options parse_options(int argc, char** argv) {
  CLI::App app(kAbout, "grader");
  Options options;
  Flags flags;
  // What a shell asks for is half a command line, and may be any.
  if (argc >= 2 && std::string_view(argv[1]) == "complete-words") {
    options.command = Options::Command::complete_words;
    options.words.assign(argv + 2, argv + argc);
    return options;
  }
  add_everything(app, options, flags);
  try {
    app.parse(argc, argv);
    if (argc == 1) {
      options.command = Options::Command::welcome;
    } else if (app.get_subcommands().empty()) {
      check_grade(app, options, flags);
      if (flags.list) options.command = Options::Command::show_tasks;
      if (flags.hint) options.command = Options::Command::hint;
    } else if (app.count("--part") > 0) {
      throw CLI::ValidationError("--part and the other options of a grade go without a command");
    }
    const bool starter = options.command == Options::Command::starter;
    if (starter && !options.write_starter && !flags.check_starter) {
      throw CLI::ValidationError("say what to do: grader starter --write or --check");
    }
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) throw Exit{app.exit(error, std::cout, std::cerr)};
    std::cerr << "grader: " << sanitize(error.what()) << "; see grader --help\n";
    throw Exit{kUsageError};
  }
  options.sandbox = !flags.no_sandbox;
  options.batch.sandbox = !flags.batch_no_sandbox;
  return options;
}

}  // namespace rooflab

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grader/cli/author_options.h"
#include "grader/spec/seed.h"

namespace rooflab {

/// What `grader batch` is asked for.
struct BatchOptions {
  std::string submissions;
  std::string out;
  std::string roster;
  std::string policy;
  std::string groups;
  std::vector<std::string> choose;  ///< submissions that count
  std::string manual;
  std::string requests;
  std::vector<int> parts;
  std::string device;
  unsigned jobs = 0;  ///< 0: one per CPU
  std::string executor = "local";
  std::vector<std::string> executor_arguments;  ///< for sbatch, or of the Kubernetes Job
  std::optional<Seed> seed;
  std::string causes = "full";  ///< or "quick"
  std::vector<std::string> regrade;
  std::optional<std::string> regrade_counts;
  std::string replay;   ///< a student
  bool reveal = false;  ///< the hidden cases of the replay too
  std::string compare;  ///< folder of another batch of the class
  std::string forget;   ///< a student
  std::optional<std::string> assignment;
  std::vector<std::string> canvas_assignments;  ///< "1=48213"
  std::optional<bool> leaderboard;
  bool resume = false;
  bool sandbox = true;
};

/// What `grader hand-in` is asked for.
struct HandInOptions {
  std::vector<int> parts;  ///< empty: the one that is begun
  std::string submission;  ///< empty: starter/
  std::string output;      ///< empty: out/hand-in-part<N>.tar.gz
  bool journal = true;     ///< with the student's journal, where that is on
};

/// What `grader journal` is asked for.
struct JournalOptions {
  std::string what = "show";  ///< or "on", "off"
  bool remove = false;        ///< off: the runs that were noted, too
  std::string submission;     ///< empty: starter/
};

/// What `grader review` is asked for.
struct ReviewOptions {
  std::string folder;  ///< of the graded class
  int port = 0;        ///< 0: any that is free
  std::string by;      ///< who reviews; empty: the user of the machine
};

/// What the command line asks for.
struct Options {
  enum class Command : std::uint8_t {
    grade,
    show_tasks,
    hint,
    list,
    doctor,
    explain,
    roofline,
    starter,
    batch,
    batch_job,
    batch_task,
    review,
    verify,
    release,
    new_part,
    calibrate,
    compare_times,
    targets,
    completion,
    complete_words,
    update,
    hand_in,
    journal,
    pages,
    welcome
  };
  Command command = Command::grade;

  std::optional<int> part;
  std::optional<std::string> task;
  std::optional<int> case_number;
  std::string submission;  ///< empty: starter/ of the checkout
  std::string student;     ///< as student_id() gives it; empty: whom the submission names
  std::string device;      ///< empty: the course's
  bool any_gpu = false;    ///< also one that the course does not list
  std::string json;        ///< a file, "-" for stdout, or empty
  std::string sarif;       ///< a file for editors
  bool problems = false;   ///< on stdout, for problem matchers, in place of the report
  std::string html;        ///< a file, or empty for out/part<N>.html
  std::string trace;
  std::string explore;  ///< a file for a failing case as a page to step through
  std::optional<Seed> seed;
  std::string causes = "full";  ///< or "quick"
  std::string hint_group;  ///< hint: of which group, or the task itself; empty: what failed last
  bool watch = false;
  /// Keeps the run in the work log, with what is expected of it; empty where the log's file says
  /// it.
  std::optional<std::string> log;
  bool sandbox = true;

  BatchOptions batch;
  HandInOptions hand_in;
  JournalOptions journal;
  ReviewOptions review;
  std::string job;             ///< batch-job: its folder
  std::string task_list;       ///< batch-task: the file of jobs
  std::size_t task_index = 0;  ///< batch-task: which of them
  std::string code;            ///< explain
  std::string folder;          ///< pages: where they go
  std::string gpu;             ///< roofline; empty for all
  bool write_starter = false;  ///< starter: write, else check
  AuthorOptions author;
  std::string shell;               ///< completion
  std::vector<std::string> words;  ///< complete-words: of a command line, the last one unfinished
};

/// The command line is done with: help was shown (0), or it cannot be used (2).
struct Exit {
  int code = 0;
};

/// Reads the command line. @throws Exit after having said why.
Options parse_options(int argc, char** argv);

/// Shows the whole command line as CLI11 holds it: commands, options, choices.
void walk_command_line(const std::function<void(const CLI::App&)>& look);

}  // namespace rooflab

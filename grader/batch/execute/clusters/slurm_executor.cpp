#include "grader/batch/execute/clusters/slurm_executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "grader/batch/execute/clusters/slurm.h"
#include "grader/batch/execute/clusters/slurm_array.h"
#include "grader/batch/execute/clusters/task_list.h"

namespace rooflab {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr std::chrono::milliseconds kBetweenQuestions{100};
constexpr Seconds kLongestBackoff{30};
constexpr Seconds kCancelPatience{45};  // longer than Slurm's KillWait, 30 s where nobody set it
constexpr double kSpareMinutes = 1;     // for a task to start and to say why it failed

unsigned minutes_for(const std::vector<Job>& jobs) {
  double longest = 0;
  for (const Job& job : jobs) {
    if (job.limit_s <= 0) return 0;
    longest = std::max(longest, job.limit_s);
  }
  return static_cast<unsigned>(std::ceil(longest / 60 + kSpareMinutes));
}

/// Why a task that will not run again left no result; nothing when its node died or its result may
/// still be on its way. A task that lives to its end without a result says why itself.
std::optional<std::string> why_ended(const SlurmArray::Task& task, const Job& job,
                                     const std::filesystem::path& list) {
  const auto said = [&]() -> std::optional<std::string> {
    const auto failure = last_failure(job, list);
    return failure ? std::optional(failure->why) : std::nullopt;
  };
  if (!task.queued) return said();
  const std::string& state = task.queued->state;
  if (state == "CANCELLED") return "its task was cancelled in Slurm";
  if (state == "TIMEOUT") return "Slurm ended its task at the time limit";
  if (state == "DEADLINE") return "Slurm ended its task at a deadline";
  if (state == "OUT_OF_MEMORY") {
    return "Slurm ended its task for using more memory than was asked for";
  }
  if (fate_of(*task.queued) == TaskFate::ended) return said();
  return std::nullopt;
}

/// How long the controller has been silent, and when to ask it again.
class Outage {
 public:
  explicit Outage(const SlurmOptions& options) : options_(options) {}

  bool lasts() const { return since_.has_value(); }
  bool may_ask() const { return Clock::now() >= next_; }
  void heard() {
    if (since_ && options_.progress) options_.progress("Slurm answers again");
    since_.reset();
    pause_ = options_.poll;
  }
  void silent(const std::string& why) {
    const auto now = Clock::now();
    if (!since_) {
      since_ = now;
      pause_ = std::min(options_.poll, kLongestBackoff);
      if (options_.progress) options_.progress(fmt::format("waiting for Slurm: {}", why));
    }
    if (now - *since_ >= options_.patience) {
      throw ExecutorError(
          fmt::format("Slurm has not answered for {:.0f} minutes ({}); when it does, "
                      "run the same command again: it follows what is in the queue",
                      options_.patience.count() / 60, why));
    }
    next_ = now + std::chrono::duration_cast<Clock::duration>(pause_);
    pause_ = std::min(2 * pause_, kLongestBackoff);
  }

 private:
  const SlurmOptions& options_;
  std::optional<Clock::time_point> since_;
  Clock::time_point next_;
  Seconds pause_{1};
};

/// One run of the executor.
class Run {
 public:
  Run(const SlurmOptions& options, const std::vector<Job>& jobs,
      const std::function<void(const JobEnd&)>& ended, const std::function<bool()>& idle)
      : options_(options),
        ended_(ended),
        idle_([this, &idle] { return stop_ = stop_ || idle(); }),
        slurm_(options.programs, options.command_limit),
        outage_(options) {
    std::map<std::string, const Job*> wanted;
    for (const Job& job : jobs) {
      if (has_result(job)) {
        tell_done(job);
      } else {
        wanted.emplace(job.name, &job);
      }
    }
    adopt(wanted);
    for (const Job& job : jobs) {
      if (wanted.contains(job.name)) waiting_.push_back(job);
    }
  }

  void follow() {
    while (!idle_()) {
      if (outage_.may_ask() && Clock::now() >= next_look_) look();
      find_results();
      if (waiting_.empty() && arrays_.empty()) return;
      std::this_thread::sleep_for(kBetweenQuestions);
    }
    cancel_all();
  }

 private:
  void tell_done(const Job& job) { ended_({.name = job.name, .done = true, .why = {}}); }

  // Arrays of an earlier run: those with tasks that are wanted are followed, others cancelled.
  void adopt(std::map<std::string, const Job*>& wanted) {
    for (SlurmArray& array : SlurmArray::find_all(options_.folder)) {
      const bool closed = array.closed();
      for (std::size_t i = 0; i < array.jobs().size(); ++i) {
        const auto found = wanted.find(array.jobs()[i].name);
        array.tasks()[i].followed =
            !closed && found != wanted.end() && found->second->folder == array.jobs()[i].folder;
        if (array.tasks()[i].followed) wanted.erase(found);
      }
      if (array.jobs().empty()) {
        array.remove();
        continue;
      }
      if (!array.followed()) array.close();
      arrays_.push_back(std::move(array));
    }
  }

  // Asks and submits; whatever fails for silence is tried again later.
  void look() {
    try {
      look_at_queue();
      retire_arrays();
      submit_some();
      outage_.heard();
      next_look_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(options_.poll);
    } catch (const SlurmSilent& silence) {
      if (!stop_) outage_.silent(silence.what());
    }
  }

  void look_at_queue() {
    if (arrays_.empty()) return;
    std::vector<std::string> names;
    for (const SlurmArray& array : arrays_) names.push_back(array.name());
    const std::vector<QueuedTask> queue = slurm_.queue(names, idle_);
    for (SlurmArray& array : arrays_) array.update(queue);
    tell_progress();
  }

  void tell_progress() {
    std::size_t waiting = waiting_.size();
    std::size_t running = 0;
    for (const SlurmArray& array : arrays_) {
      for (const SlurmArray::Task& task : array.tasks()) {
        if (!task.followed || !task.queued) continue;
        const TaskFate fate = fate_of(*task.queued);
        waiting += fate == TaskFate::waiting ? 1 : 0;
        running += fate == TaskFate::running ? 1 : 0;
      }
    }
    const std::string line = fmt::format("Slurm: {} run, {} wait", running, waiting);
    if (options_.progress && line != told_) options_.progress(line);
    told_ = line;
  }

  // A look into the folder of a task that waits would cost a network file system as much as one
  // into that of a task that runs.
  void find_results() {
    if (Clock::now() < next_results_) return;
    next_results_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                       std::min(options_.poll, Seconds(1)));
    for (SlurmArray& array : arrays_) {
      for (std::size_t i = 0; i < array.jobs().size(); ++i) {
        SlurmArray::Task& task = array.tasks()[i];
        const bool waits = task.queued && fate_of(*task.queued) == TaskFate::waiting;
        if (task.followed && (!waits || outage_.lasts())) judge(array, i);
      }
    }
  }

  void judge(SlurmArray& array, std::size_t index) {
    const Job& job = array.jobs()[index];
    SlurmArray::Task& task = array.tasks()[index];
    if (has_result(job)) {
      task.followed = false;
      tell_done(job);
      return;
    }
    if (!task.gone_at) return;
    const std::optional<std::string> why = why_ended(task, job, array.list());
    if (!why && Clock::now() - *task.gone_at < options_.grace) return;
    task.followed = false;
    if (why) {
      ended_({.name = job.name, .done = false, .why = *why});
    } else if (++losses_[job.name] < options_.attempts) {
      waiting_.push_back(job);
    } else {
      const std::string message = array.message_of(index);
      ended_({.name = job.name,
              .done = false,
              .why = fmt::format("its task was lost {} times in Slurm, the last time {}",
                                 options_.attempts,
                                 task.queued ? "as " + task.queued->state : "without a trace") +
                     (message.empty() ? "" : ": " + message)});
    }
  }

  // Lets go of arrays of which nothing is awaited. Their tasks with a result may still be queued: a
  // node's death requeues what had ended on it.
  void retire_arrays() {
    for (auto array = arrays_.begin(); array != arrays_.end();) {
      if (array->followed() || !looked_at(*array)) {
        ++array;
        continue;
      }
      if (holds_tasks(*array)) {
        const bool may_end_itself = array->running() && !array->closed() && !out_of_grace(*array);
        if (!may_end_itself) {
          array->close();
          slurm_.cancel(array->name(), idle_);
        }
        ++array;
        continue;
      }
      array->remove();
      retired_at_.erase(array->name());
      array = arrays_.erase(array);
    }
  }

  static bool looked_at(const SlurmArray& array) {
    return std::all_of(array.tasks().begin(), array.tasks().end(),
                       [](const SlurmArray::Task& task) {
                         return task.queued.has_value() || task.gone_at.has_value();
                       });
  }

  static bool holds_tasks(const SlurmArray& array) {
    return std::any_of(
        array.tasks().begin(), array.tasks().end(), [](const SlurmArray::Task& task) {
          if (!task.queued) return false;
          const TaskFate fate = fate_of(*task.queued);
          return fate == TaskFate::waiting || fate == TaskFate::running || fate == TaskFate::held;
        });
  }

  bool out_of_grace(const SlurmArray& array) {
    const auto [since, fresh] = retired_at_.emplace(array.name(), Clock::now());
    return !fresh && Clock::now() - since->second >= options_.grace;
  }

  void submit_some() {
    while (!waiting_.empty() && !stop_ && may_submit()) {
      if (!most_tasks_) most_tasks_ = slurm_.max_array_size(idle_);
      const std::size_t count = std::min(waiting_.size(), *most_tasks_);
      const std::vector<Job> jobs(waiting_.begin(),
                                  waiting_.begin() + static_cast<std::ptrdiff_t>(count));
      if (!submit(jobs)) return;
    }
  }

  // With a limit, one array at a time, since Slurm keeps it for each array alone. After a refusal,
  // when there is less of ours in the queue than there was.
  bool may_submit() const {
    if (options_.at_most > 0 && !arrays_.empty()) return false;
    return !refused_with_ || arrays_.size() < *refused_with_;
  }

  bool submit(const std::vector<Job>& jobs) {
    const std::size_t others = arrays_.size();
    SlurmArray array = SlurmArray::create(options_.folder, options_.grader, jobs);
    const ArrayRequest request{.name = array.name(),
                               .tasks = jobs.size(),
                               .at_most = options_.at_most,
                               .cpus = options_.cpus,
                               .memory_mib = options_.memory_mib,
                               .minutes = minutes_for(jobs),
                               .partition = options_.partition,
                               .arguments = options_.sbatch_arguments,
                               .script = array.script(),
                               .messages = array.messages()};
    std::optional<std::string> refusal;
    try {
      // A submission that was begun is brought to its end.
      array.note_number(slurm_.submit(request, [this] {
        idle_();
        return false;
      }));
    } catch (const SlurmRefused& error) {
      refusal = error.what();
    } catch (const ExecutorError&) {
      array.remove();
      throw;
    }
    if (refusal && slurm_knows_not(array)) {
      array.close();
      array.remove();
      if (others == 0) {
        throw ExecutorError(
            fmt::format("Slurm does not take the jobs: {}; change what is asked of "
                        "sbatch, or run the batch with --executor local",
                        *refusal));
      }
      refused_with_ = others;
      return false;
    }
    refused_with_.reset();
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(jobs.size()));
    arrays_.push_back(std::move(array));
    return true;
  }

  // When sbatch failed because the controller was silent, nobody knows whether the array is there.
  bool slurm_knows_not(SlurmArray& array) {
    try {
      const std::vector<QueuedTask> queue = slurm_.queue({array.name()}, idle_);
      array.update(queue);
      // Slurm lists the tasks of an array that it refused, as failed.
      return std::all_of(queue.begin(), queue.end(),
                         [](const QueuedTask& task) { return task.state == "FAILED"; });
    } catch (const SlurmSilent&) {
      // Its tasks, if there are any, end at once now, and it is cancelled when Slurm answers.
      array.close();
      for (SlurmArray::Task& task : array.tasks()) task.followed = false;
      arrays_.push_back(array);
      throw;
    }
  }

  void cancel_all() {
    for (const SlurmArray& array : arrays_) array.close();
    const auto never = [] { return false; };
    const auto patience =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(kCancelPatience);
    std::string silence = "their tasks do not end";
    bool silent = false;
    while (!arrays_.empty() && Clock::now() < patience) {
      try {
        for (const SlurmArray& array : arrays_) slurm_.cancel(array.name(), never);
        std::vector<std::string> names;
        for (const SlurmArray& array : arrays_) names.push_back(array.name());
        const std::vector<QueuedTask> queue = slurm_.queue(names, never);
        for (SlurmArray& array : arrays_) array.update(queue);
        forget_cancelled();
        silent = false;
      } catch (const SlurmSilent& error) {
        if (std::exchange(silent, true)) break;  // whoever asks for an end does not want to wait
        silence = error.what();
      }
      if (!arrays_.empty()) std::this_thread::sleep_for(std::min(options_.poll, Seconds(1)));
    }
    if (!arrays_.empty() && options_.progress) {
      options_.progress(
          fmt::format("{} arrays may still be in Slurm's queue ({}); the next run "
                      "cancels them, or scancel --name={}",
                      arrays_.size(), silence, arrays_.front().name()));
    }
  }

  void forget_cancelled() {
    for (auto array = arrays_.begin(); array != arrays_.end();) {
      if (holds_tasks(*array)) {
        ++array;
        continue;
      }
      for (std::size_t i = 0; i < array->jobs().size(); ++i) {
        if (array->tasks()[i].followed && has_result(array->jobs()[i])) tell_done(array->jobs()[i]);
      }
      array->remove();
      array = arrays_.erase(array);
    }
  }

  const SlurmOptions& options_;
  const std::function<void(const JobEnd&)>& ended_;
  std::function<bool()> idle_;
  Slurm slurm_;
  Outage outage_;
  std::deque<Job> waiting_;  ///< to be submitted
  std::list<SlurmArray> arrays_;
  std::map<std::string, unsigned> losses_;
  std::map<std::string, Clock::time_point> retired_at_;
  std::optional<std::size_t> most_tasks_;
  std::optional<std::size_t> refused_with_;  ///< arrays that were there when sbatch said no
  Clock::time_point next_look_;
  Clock::time_point next_results_;
  std::string told_;
  bool stop_ = false;
};

}  // namespace

SlurmExecutor::SlurmExecutor(SlurmOptions options) : options_(std::move(options)) {}

void SlurmExecutor::run(const std::vector<Job>& jobs,
                        const std::function<void(const JobEnd&)>& ended,
                        const std::function<bool()>& idle) {
  Run(options_, jobs, ended, idle).follow();
}

}  // namespace rooflab

#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <future>
#include <map>
#include <semaphore>

#include "grader/pipeline/run_case.h"

namespace rooflab {

/// How many runs go on at once, over all tasks of a grading.
class RunSlots {
 public:
  explicit RunSlots(unsigned count) : count_(std::max(1U, count)), free_(count_) {}

  unsigned count() const { return count_; }
  /// Calls `run` as soon as a slot is free. @return what it returns
  template <typename Run>
  auto use(const Run& run) {
    const Slot slot(free_);
    return run();
  }

 private:
  struct Slot {
    explicit Slot(std::counting_semaphore<>& free) : free(free) { free.acquire(); }
    ~Slot() { free.release(); }
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    std::counting_semaphore<>& free;
  };
  unsigned count_;
  std::counting_semaphore<> free_;
};

/// The runs of a list of cases, which are asked for in order and begun ahead of that: with each run
/// that is asked for the next ones begin, too, so that a task keeps several cores busy. What is
/// begun when does not depend on how many slots there are; with one it runs when it is asked for.
/// A run that is never asked for is waited for and forgotten.
class RunsAhead {
 public:
  /// Prepares a run, on the thread that asks: what it reads of earlier results is the same whatever
  /// runs side by side. What it returns runs on any thread.
  using Prepare = std::function<std::function<CaseRun()>(std::size_t index)>;

  /// @param ahead runs begun beside the one that is asked for
  RunsAhead(std::size_t count, std::size_t ahead, RunSlots& slots, Prepare prepare)
      : count_(count), ahead_(ahead), slots_(slots), prepare_(std::move(prepare)) {}

  /// The run of a case that lies behind all that were asked for before. @throws what the run threw
  CaseRun take(std::size_t index);

 private:
  void begin(std::size_t index);

  std::size_t count_, ahead_;
  RunSlots& slots_;
  Prepare prepare_;
  std::map<std::size_t, std::future<CaseRun>> begun_;
};

}  // namespace rooflab

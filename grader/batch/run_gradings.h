#pragma once

#include "grader/batch/batch_folder.h"
#include "grader/batch/course.h"
#include "grader/batch/execute/executor.h"
#include "grader/batch/job_files.h"
#include "grader/batch/listener.h"
#include "grader/batch/store/store.h"

namespace rooflab {

struct RunOptions {
  bool sandbox = true;
  std::string causes = "full";  ///< or "quick"
  unsigned threads = 1;         ///< of each worker
  double limit_s = 0;           ///< for one grading
  unsigned at_once = 1;         ///< gradings under way at a time, for telling how long it takes
};

/// Makes every pending grading and keeps its result as soon as it is there. What its worker died
/// of, or the grader itself failed at, is tried up to three times and then kept as a fault, never
/// as a score.
/// @return false when the listener stopped it
bool run_gradings(Store& store, const Course& course, const BatchFolder& folder, Executor& executor,
                  const RunOptions& options, BatchListener& listener);

}  // namespace rooflab

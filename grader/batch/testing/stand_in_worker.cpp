// Takes the grader's place as the worker of a batch: stand_in_worker batch-job FOLDER. Grades by
// counting letters 'x', and does to itself what the words of the submission say:
//
//     dies              it is killed, every time
//     dies half way     it is killed while its result is being written
//     dies twice        it is killed until its third try
//     hangs             it never ends
//     leaves nonsense   it ends well, with a result that no reader must follow to its depth
//     leaves half       it ends well, with half of a result
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "grader/batch/execute/executor.h"
#include "grader/batch/job_files.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;

constexpr double kMostPoints = 10;

std::string submitted_text(const fs::path& folder) {
  std::string text;
  for (const fs::path& file : files_below(sources_of(folder))) text += read_file(file);
  return text;
}

void leave(const fs::path& folder, const std::string& result) {
  std::ofstream(folder / kResultFile, std::ios::binary) << result;
}

/// The job's folder is made anew for each try: what is counted stands beside it.
int try_of(const fs::path& folder) {
  const fs::path counter = folder.string() + ".tries";
  int tries = 0;
  std::ifstream(counter) >> tries;
  std::ofstream(counter) << ++tries;
  return tries;
}

GradeResult counted(const std::string& text, const JobDescription& job) {
  TaskResult task;
  task.id = "count";
  task.title = "Counting";
  task.max_score = kMostPoints;
  task.score = std::min(kMostPoints, static_cast<double>(std::ranges::count(text, 'x')));
  task.verdict = task.score == kMostPoints ? Verdict::pass : Verdict::wrong_answer;
  GradeResult result;
  result.part = job.part;
  result.device = job.device;
  result.time_kind = "modelled";
  result.seed = job.seed;
  result.tasks = {task};
  return result;
}

int work(const fs::path& folder) {
  const std::string text = submitted_text(folder);
  const auto asks_to = [&](const char* words) { return text.find(words) != std::string::npos; };
  if (asks_to("hangs")) {
    while (true) pause();
  }
  if (asks_to("leaves nonsense")) {
    leave(folder, R"({"evidence":")" + std::string(1'000'000, '[') + R"(","gpu":)" +
                      std::string(2'000'000, '['));
    return 0;
  }
  const bool dies_again = asks_to("dies twice") && try_of(folder) <= 2;
  const bool halves = asks_to("dies half way") || asks_to("leaves half");
  if (dies_again || (asks_to("dies") && !asks_to("dies twice") && !halves)) raise(SIGKILL);
  write_result(folder, counted(text, read_job(folder)), "a100");
  if (halves) {
    const std::string whole = read_file(folder / kResultFile);
    fs::remove(folder / kResultFile);
    if (asks_to("leaves half")) {
      leave(folder, whole.substr(0, whole.size() / 2));
      return 0;
    }
    // As write_file_atomically leaves it: what is unfinished has another name.
    std::ofstream(folder / "result.json.unfinished-x7Yk2p") << whole.substr(0, whole.size() / 2);
    raise(SIGKILL);
  }
  return 0;
}

}  // namespace
}  // namespace rooflab

int main(int argc, char** argv) {
  return argc == 3 && std::string(argv[1]) == "batch-job" ? rooflab::work(argv[2]) : 2;
}

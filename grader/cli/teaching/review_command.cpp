#include "grader/cli/teaching/review_command.h"

#include <fmt/format.h>

#include <csignal>
#include <ctime>
#include <thread>

#include "grader/batch/batch.h"
#include "grader/batch/outputs/code_titles.h"
#include "grader/cli/teaching/user_name.h"
#include "grader/pipeline/grade.h"
#include "grader/report/text.h"
#include "grader/review/review_app.h"
#include "grader/review/web_server.h"

namespace rooflab {
namespace {

/// What the batch says while it writes its outputs.
class Lines : public BatchListener {
 public:
  void say(const std::string& line) override { lines.push_back(line); }
  void progress(const BatchProgress& /*progress*/) override {}
  bool stop() override { return false; }

  std::vector<std::string> lines;
};

std::filesystem::path database_in(const std::string& folder) {
  std::filesystem::path database = std::filesystem::path(folder) / "batch.sqlite";
  if (std::filesystem::is_regular_file(database)) return database;
  throw UsageError(fmt::format(
      "there is no graded class in {}; grade one with grader batch SUBMISSIONS --out {}", folder,
      folder));
}

/// The parts that the batch in this database grades.
std::vector<int> parts_in(const std::filesystem::path& database) {
  Store store(database);
  const std::vector<int> parts = parts_of_batch(store);
  if (parts.empty()) {
    throw UsageError("the batch in this folder has no part yet; run grader batch first");
  }
  return parts;
}

/// Blocks the signals that end a program in every thread that is made from now on; wait() takes
/// them.
class Interruption {
 public:
  Interruption() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    sigaddset(&signals_, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }
  void wait() const {
    int signal = 0;
    sigwait(&signals_, &signal);
  }

 private:
  sigset_t signals_{};
};

}  // namespace

int review_class(std::ostream& out, const ReviewOptions& options,
                 const Installation& installation) {
  const std::filesystem::path database = database_in(options.folder);
  const Course course = load_course(installation, find_toolchain(installation), parts_in(database));
  const BatchWork work{.unpacker = {},
                       .gpu_specs = installation.gpus(),
                       .code_titles = read_code_titles(installation.handouts() / "errors")};
  const auto write_outputs = [&] {
    BatchRequest request;
    request.out = options.folder;
    request.resume = true;
    Batch batch(request);
    Lines lines;
    batch.write_outputs(course, work, lines);
    return lines.lines;
  };
  ReviewApp app({.database = database,
                 .starter = installation.starter(),
                 .by = options.by.empty() ? name_of_user() : one_line(options.by),
                 .write_outputs = write_outputs,
                 .now = [] { return std::int64_t{std::time(nullptr)}; },
                 .handouts = installation.handouts(),
                 .code_titles = work.code_titles},
                course);
  try {
    const Interruption interruption;
    WebServer server(options.port,
                     [&app](const ReviewRequest& request, const std::string& form_token) {
                       return app.answer(request, form_token);
                     });
    out << fmt::format(
               "The review is at\n  {}\nThis address is a key: whoever on this machine has it can "
               "read and change grades. Ctrl-C ends the review.\n",
               server.address())
        << std::flush;
    std::thread serving([&server] { server.run(); });
    interruption.wait();
    server.stop();
    serving.join();
  } catch (const WebServerError& error) {
    throw UsageError(error.what());
  }
  return 0;
}

}  // namespace rooflab

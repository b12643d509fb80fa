#include "trace.h"

#include <algorithm>
#include <stdexcept>

#include "events.h"
#include "grader/contract/guest_call.h"
#include "guest_support/call_parameters.h"
#include "guest_support/cublas_handle.h"
#include "guest_support/device_memory.h"
#include "guest_support/scratch_folder.h"
#include "toolkit/eager/pointwise.h"
#include "toolkit/eager/rows.h"
#include "toolkit/linear.h"

namespace {

using rooflab::at;
using rooflab::GuestCall;
using rooflab::RandomArray;

/// What score_rows.cu hands out: the scores of rows, out of eager operations, and a copy of them.
/// oracle/trace_file.cpp knows how many pieces of work that is.
class EagerScores {
 public:
  EagerScores(int rows, int hidden, int width) : rows_(rows), hidden_(hidden), width_(width) {}

  void run() {
    using namespace rooflab;
    const std::int64_t count = std::int64_t{rows_} * width_;
    linear(cublas_.get(), x_.data(), weight_.data(), projected_.data(), rows_, hidden_, width_,
           nullptr);
    eager::multiply(projected_.data(), reference_.data(), matched_.data(), count, nullptr);
    eager::mean_of_rows(matched_.data(), means_.data(), rows_, width_, nullptr);
    eager::tanh(means_.data(), scores_.data(), rows_, nullptr);
    CUDA_CHECK(cudaMemcpyAsync(copy_.data(), scores_.data(),
                               sizeof(float) * static_cast<std::size_t>(rows_),
                               cudaMemcpyDeviceToDevice));
  }

 private:
  static RandomArray matrix(int rows, int columns) {
    return RandomArray(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
  }

  int rows_, hidden_, width_;
  rooflab::CublasHandle cublas_;
  RandomArray x_ = matrix(rows_, hidden_);
  RandomArray weight_ = matrix(width_, hidden_);
  RandomArray projected_ = matrix(rows_, width_);
  RandomArray reference_ = matrix(rows_, width_);
  RandomArray matched_ = matrix(rows_, width_);
  RandomArray means_ = matrix(rows_, 1);
  RandomArray scores_ = matrix(rows_, 1);
  RandomArray copy_ = matrix(rows_, 1);
};

void pass_on_trace(GuestCall& call) {
  using rooflab::size;
  EagerScores program(size(call, "rows"), size(call, "hidden"), size(call, "width"));
  CUDA_CHECK(cudaDeviceSynchronize());
  const rooflab::ScratchFolder folder;
  export_trace([&] { program.run(); }, folder.path() / "trace.json");
  CUDA_CHECK(cudaDeviceSynchronize());
  call.result("trace.json", folder.contents("trace.json"));
}

void pass_on_pairs(GuestCall& call) {
  const std::vector<KernelPair> pairs = neighbours(rooflab::events_from(call.text("events")));
  call.result("pairs", static_cast<std::int64_t>(pairs.size()));
  for (std::size_t i = 0; i < std::min(rooflab::kMostEntries, pairs.size()); ++i) {
    call.result(at("first", i), pairs[i].first);
    call.result(at("second", i), pairs[i].second);
    call.result(at("times", i), pairs[i].times);
    call.result(at("total_us", i), pairs[i].total_us);
  }
}

}  // namespace

ROOFLAB_ENTRY(trace) {
  const std::string& function = call.text("function");
  if (function == "export_trace") return pass_on_trace(call);
  if (function == "neighbours") return pass_on_pairs(call);
  throw std::invalid_argument("part.toml names no such function: " + function);
}

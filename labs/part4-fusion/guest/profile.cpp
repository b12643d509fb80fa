#include "profile.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "events.h"
#include "grader/contract/guest_call.h"
#include "guest_support/call_parameters.h"
#include "guest_support/cublas_handle.h"
#include "guest_support/device_memory.h"
#include "toolkit/eager/gelu.h"
#include "toolkit/eager/pointwise.h"
#include "toolkit/eager/rows.h"
#include "toolkit/linear.h"

namespace {

using rooflab::CublasHandle;
using rooflab::GuestCall;
using rooflab::RandomArray;

using rooflab::at;
using rooflab::events_from;
using rooflab::kMostEntries;

std::string name_of(Category category) {
  switch (category) {
    case Category::gemm:
      return "gemm";
    case Category::elementwise:
      return "elementwise";
    case Category::softmax:
      return "softmax";
    case Category::layernorm:
      return "layernorm";
    case Category::memory:
      return "memory";
    case Category::other:
      return "other";
  }
  return "not a category";
}

void pass_on_classes(GuestCall& call) {
  std::istringstream names(call.text("names"));
  std::size_t i = 0;
  for (std::string name; std::getline(names, name); ++i) {
    call.result(at("category", i), name_of(classify(name)));
  }
}

void pass_on(GuestCall& call, const CategoryCounts& counts) {
  call.result("gemm", counts.gemm);
  call.result("elementwise", counts.elementwise);
  call.result("softmax", counts.softmax);
  call.result("layernorm", counts.layernorm);
  call.result("memory", counts.memory);
  call.result("other", counts.other);
  call.result("total", counts.total);
}

void pass_on(GuestCall& call, const std::vector<Summary>& summaries) {
  call.result("names", static_cast<std::int64_t>(summaries.size()));
  for (std::size_t i = 0; i < std::min(kMostEntries, summaries.size()); ++i) {
    call.result(at("name", i), summaries[i].name);
    call.result(at("calls", i), summaries[i].calls);
    call.result(at("total_us", i), summaries[i].total_us);
    call.result(at("mean_us", i), summaries[i].mean_us);
    call.result(at("share", i), summaries[i].share);
  }
}

std::string name_of(GapCause cause) {
  switch (cause) {
    case GapCause::synchronisation:
      return "synchronisation";
    case GapCause::launch:
      return "launch";
    case GapCause::device:
      return "device";
  }
  return "not a cause";
}

void pass_on(GuestCall& call, const std::vector<Gap>& gaps) {
  call.result("gaps", static_cast<std::int64_t>(gaps.size()));
  for (std::size_t i = 0; i < std::min(kMostEntries, gaps.size()); ++i) {
    call.result(at("start", i), gaps[i].start_us);
    call.result(at("duration", i), gaps[i].duration_us);
    call.result(at("cause", i), name_of(gaps[i].cause));
  }
}

/// An MLP out of eager operations, and what else a profile may show: fifteen pieces of work.
class Workload {
 public:
  Workload(int tokens, int hidden, int intermediate)
      : tokens_(tokens), hidden_(hidden), intermediate_(intermediate) {}

  void run() {
    using namespace rooflab;
    const std::int64_t outer = std::int64_t{tokens_} * hidden_;
    const std::int64_t inner = std::int64_t{tokens_} * intermediate_;
    linear(cublas_.get(), x_.data(), up_.data(), wide_.data(), tokens_, hidden_, intermediate_,
           nullptr);
    eager::gelu(wide_.data(), activated_.data(), inner, workspace_, nullptr);
    linear(cublas_.get(), activated_.data(), down_.data(), out_.data(), tokens_, intermediate_,
           hidden_, nullptr);
    eager::add(out_.data(), x_.data(), out_.data(), outer, nullptr);
    eager::softmax_of_rows(out_.data(), out_.data(), tokens_, hidden_, nullptr);
    eager::mean_of_rows(out_.data(), means_.data(), tokens_, hidden_, nullptr);
    const std::size_t bytes = sizeof(float) * static_cast<std::size_t>(outer);
    CUDA_CHECK(cudaMemcpyAsync(copy_.data(), out_.data(), bytes, cudaMemcpyDeviceToDevice));
    CUDA_CHECK(cudaMemsetAsync(out_.data(), 0, bytes));
  }

 private:
  static RandomArray matrix(int rows, int columns) {
    return RandomArray(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
  }

  int tokens_, hidden_, intermediate_;
  CublasHandle cublas_;
  RandomArray x_ = matrix(tokens_, hidden_);
  RandomArray out_ = matrix(tokens_, hidden_);
  RandomArray copy_ = matrix(tokens_, hidden_);
  RandomArray means_ = matrix(tokens_, 1);
  RandomArray up_ = matrix(intermediate_, hidden_);
  RandomArray down_ = matrix(hidden_, intermediate_);
  RandomArray wide_ = matrix(tokens_, intermediate_);
  RandomArray activated_ = matrix(tokens_, intermediate_);
  RandomArray scratch_ = matrix(2 * tokens_, intermediate_);
  rooflab::Workspace workspace_{scratch_.data(), sizeof(float) * 2 *
                                                     static_cast<std::size_t>(tokens_) *
                                                     static_cast<std::size_t>(intermediate_)};
};

void pass_on_workload(GuestCall& call) {
  using rooflab::size;
  Workload workload(size(call, "tokens"), size(call, "hidden"), size(call, "intermediate"));
  CUDA_CHECK(cudaDeviceSynchronize());
  const WorkloadReport report = profile_workload([&] { workload.run(); });
  CUDA_CHECK(cudaDeviceSynchronize());
  pass_on(call, report.counts);
  call.result("device_us", report.device_us);
  call.result("span_us", report.span_us);
  call.result("top_kernel", report.top_kernel);
}

}  // namespace

ROOFLAB_ENTRY(profile) {
  const std::string& function = call.text("function");
  if (function == "classify") return pass_on_classes(call);
  if (function == "profile_workload") return pass_on_workload(call);
  const std::vector<ProfiledEvent> events = events_from(call.text("events"));
  if (function == "count_by_category") return pass_on(call, count_by_category(events));
  if (function == "summarise") return pass_on(call, summarise(events));
  if (function == "top_kernel") return call.result("top_kernel", top_kernel(events));
  if (function == "launch_gaps") return pass_on(call, launch_gaps(events));
  throw std::invalid_argument("part.toml names no such function: " + function);
}

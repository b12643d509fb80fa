#include "labs/part5-flash-attention/oracle/study_record.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace rooflab {
namespace {

constexpr double kFloat = 4;
constexpr double kMillisecondsPerMicrosecond = 1e-3;

/// Bytes of the first marker; guest/study.cpp knows them, too.
constexpr std::uint64_t kFirstMarkerBytes = 101;

double heads() { return static_cast<double>(kStudyHeads); }

double scores_bytes(int length) { return heads() * kFloat * length * length; }

double matrix_bytes(int length) {
  return heads() * kFloat * length * static_cast<double>(kStudyHeadDim);
}

/// The last fill of so many bytes.
const simgpu::MemoryRecord* marker(const simgpu::Activity& activity, std::uint64_t bytes) {
  const auto is_marker = [&](const simgpu::MemoryRecord& record) {
    return record.operation == simgpu::MemoryOperation::set && record.bytes == bytes;
  };
  const auto last = std::find_if(activity.memory.rbegin(), activity.memory.rend(), is_marker);
  return last == activity.memory.rend() ? nullptr : &*last;
}

RecordedCall call_between(const simgpu::Activity& activity, const simgpu::MemoryRecord& before,
                          const simgpu::MemoryRecord& after) {
  RecordedCall call;
  double end_us = before.start_us + before.time_us;
  const double begin_us = end_us;
  for (const simgpu::KernelRecord& kernel : activity.kernels) {
    if (kernel.sequence < before.sequence || kernel.sequence > after.sequence) continue;
    add(kernel, call);
    call.busy_ms += kernel.time.total_us * kMillisecondsPerMicrosecond;
    end_us = std::max(end_us, kernel.start_us + kernel.time.total_us);
  }
  for (const simgpu::ApiRecord& record : activity.calls) {
    if (record.sequence < before.sequence || record.sequence > after.sequence) continue;
    if (record.error == 0 && record.name.starts_with("cudaMalloc")) ++call.allocations;
  }
  call.span_ms = (end_us - begin_us) * kMillisecondsPerMicrosecond;
  return call;
}

/// What lies between two events whose distance is asked for, by the places of their records.
struct TimedRegion {
  std::uint64_t begin, end;
};

std::vector<TimedRegion> timed_regions(const simgpu::Activity& activity) {
  std::vector<TimedRegion> regions;
  std::vector<std::uint64_t> records;  // since a distance was last asked for
  for (const simgpu::ApiRecord& call : activity.calls) {
    if (call.name == "cudaEventRecord") records.push_back(call.sequence);
    if (call.name != "cudaEventElapsedTime") continue;
    if (records.size() >= 2) regions.push_back({*(records.end() - 2), records.back()});
    records.clear();
  }
  return regions;
}

bool is_same_launch(const simgpu::KernelRecord& a, const simgpu::KernelRecord& b) {
  return a.name == b.name && a.grid == b.grid;
}

}  // namespace

std::string first_kernel_that_is_timed_cold(const simgpu::Activity& activity) {
  const auto& kernels = activity.kernels;
  for (const TimedRegion& region : timed_regions(activity)) {
    const auto first = std::ranges::find_if(kernels, [&](const simgpu::KernelRecord& kernel) {
      return kernel.sequence > region.begin && kernel.sequence < region.end;
    });
    if (first == kernels.end()) continue;
    const bool was_there = std::any_of(
        kernels.begin(), first,
        [&](const simgpu::KernelRecord& kernel) { return is_same_launch(kernel, *first); });
    if (!was_there) return first->name;
  }
  return {};
}

std::string name_of(AttentionForm form) {
  return form == AttentionForm::standard ? "standard" : "flash";
}

std::string name_of(AttentionForm form, int length) {
  return name_of(form) + " " + std::to_string(length);
}

double study_flops(int length) {
  constexpr double kFlopsPerMac = 2;
  constexpr double kProducts = 2;
  return kFlopsPerMac * kProducts * heads() * static_cast<double>(kStudyHeadDim) * length * length;
}

std::vector<Term> study_arrays(AttentionForm form, int length) {
  std::vector<Term> arrays{{"one of q, k, v and out", {{"bytes", matrix_bytes(length)}}}};
  const double log_sum_exps = study_array_bytes(form, length) - 4 * matrix_bytes(length);
  if (log_sum_exps > 0) arrays.push_back({"log_sum_exp", {{"bytes", log_sum_exps}}});
  return arrays;
}

double study_array_bytes(AttentionForm form, int length) {
  const double log_sum_exps = form == AttentionForm::flash ? heads() * kFloat * length : 0;
  return 4 * matrix_bytes(length) + log_sum_exps;
}

double study_traffic(AttentionForm form, int length) {
  if (form == AttentionForm::flash) return study_array_bytes(form, length);
  const double scores = 2 * matrix_bytes(length) + scores_bytes(length);
  const double softmax = 2 * scores_bytes(length);
  const double weighted_sum = scores_bytes(length) + 2 * matrix_bytes(length);
  return scores + softmax + weighted_sum;
}

double study_memory(AttentionForm form, int length) {
  const double scores = form == AttentionForm::standard ? scores_bytes(length) : 0;
  return study_array_bytes(form, length) + scores;
}

LeastTraffic least_traffic(AttentionForm form, int length) {
  const double log_sum_exps = study_array_bytes(form, length) - 4 * matrix_bytes(length);
  const double scores = form == AttentionForm::standard ? scores_bytes(length) : 0;
  return {.loaded = 3 * matrix_bytes(length) + scores,
          .stored = matrix_bytes(length) + log_sum_exps + scores};
}

void add(const simgpu::KernelRecord& kernel, RecordedCall& call) {
  ++call.kernels;
  for (const auto& [type, flops] : kernel.counters.flops) call.flops += static_cast<double>(flops);
  call.loaded_bytes += static_cast<double>(kernel.counters.global_load_bytes);
  call.stored_bytes += static_cast<double>(kernel.counters.global_store_bytes);
  if (!kernel.at_least) return;
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  call.flops = call.loaded_bytes = call.stored_bytes = kUnknown;
}

std::map<std::string, RecordedCall> recorded_calls(const simgpu::Activity& activity) {
  std::map<std::string, RecordedCall> calls;
  std::uint64_t bytes = kFirstMarkerBytes;
  for (const int length : kStudyLengths) {
    for (const AttentionForm form : kForms) {
      const simgpu::MemoryRecord* before = marker(activity, bytes++);
      const simgpu::MemoryRecord* after = marker(activity, bytes);
      RecordedCall& call = calls[name_of(form, length)];
      if (before != nullptr && after != nullptr) call = call_between(activity, *before, *after);
    }
  }
  return calls;
}

}  // namespace rooflab

#include "study.h"

#include <algorithm>
#include <string>
#include <vector>

#include "flash_forward.h"
#include "grader/contract/guest_call.h"
#include "guest_support/cublas_handle.h"
#include "guest_support/device_memory.h"
#include "guest_support/gpu_at_hand.h"
#include "guest_support/scratch_folder.h"
#include "sdpa.h"

namespace {

constexpr std::size_t kMostElements =
    std::size_t{kStudyHeads} * kStudyHeadDim * *std::ranges::max_element(kStudyLengths);

/// Bytes of the first marker; oracle/study.cpp knows them, too.
constexpr std::size_t kFirstMarkerBytes = 101;

/// Runs both forms once more at each length, each behind a fill of a length of its own: in the
/// device's record, the grader finds by these which work belongs to which form and length.
void run_marked(const StudyDevice& device) {
  std::size_t marker = kFirstMarkerBytes;
  const auto mark = [&] { CUDA_CHECK(cudaMemsetAsync(device.out, 0, marker++, nullptr)); };
  for (const int length : kStudyLengths) {
    const AttentionShape shape = study_shape(length);
    mark();
    sdpa(device.cublas, device.q, device.k, device.v, device.out, shape, nullptr);
    mark();
    flash_forward(device.q, device.k, device.v, device.out, device.log_sum_exp, shape, nullptr);
  }
  mark();
}

/// One form alone, on arrays of the grader's: what comes out of it, and what memory it takes.
void attend(rooflab::GuestCall& call, const std::string& form) {
  const auto* q = call.tensor<const float>("q");
  const auto* k = call.tensor<const float>("k");
  const auto* v = call.tensor<const float>("v");
  auto* out = call.tensor<float>("out");
  const AttentionShape shape = study_shape(static_cast<int>(call.integer("length")));
  if (form == "flash") {
    return flash_forward(q, k, v, out, call.tensor<float>("log_sum_exp"), shape, nullptr);
  }
  const auto& cublas = call.kept<rooflab::CublasHandle>("cuBLAS");
  sdpa(cublas.get(), q, k, v, out, shape, nullptr);
}

void pass_on(rooflab::GuestCall& call, const std::string& name, const StudyResult& result) {
  call.result(name + "_ms", result.milliseconds);
  call.result(name + "_bytes", result.memory_bytes);
  call.result(name + "_kernels", result.kernels);
}

}  // namespace

ROOFLAB_ENTRY(study) {
  if (const std::string& form = call.text("form"); !form.empty()) return attend(call, form);
  const rooflab::CublasHandle cublas;

  const rooflab::RandomArray q(kMostElements, 1);
  const rooflab::RandomArray k(kMostElements, 2);
  const rooflab::RandomArray v(kMostElements, 3);
  const rooflab::RandomArray out(kMostElements, 4);
  const rooflab::RandomArray log_sum_exp(kMostElements / kStudyHeadDim, 5);
  const rooflab::GpuAtHand gpu = rooflab::gpu_at_hand();
  const StudyDevice device{.name = gpu.name,
                           .gpu = gpu.peaks,
                           .kind = gpu.kind,
                           .cublas = cublas.get(),
                           .q = q.data(),
                           .k = k.data(),
                           .v = v.data(),
                           .out = out.data(),
                           .log_sum_exp = log_sum_exp.data()};
  const rooflab::ScratchFolder folder;
  const std::vector<StudyRow> rows = study(device, folder.path());
  run_marked(device);
  CUDA_CHECK(cudaDeviceSynchronize());

  call.result("flops_per_second", device.gpu.flops_per_second);
  call.result("bytes_per_second", device.gpu.bytes_per_second);
  for (const StudyRow& row : rows) {
    const std::string length = std::to_string(row.length);
    pass_on(call, "standard_" + length, row.standard);
    pass_on(call, "flash_" + length, row.flash);
  }
  for (const char* file : {"attention.json", "attention.csv", "attention.svg", "roofline.json",
                           "roofline.csv", "roofline.svg"}) {
    call.result(file, folder.contents(file));
  }
}

#include "sweep.h"

#include "grader/contract/guest_call.h"
#include "guest_support/cublas_handle.h"
#include "guest_support/device_memory.h"
#include "guest_support/gpu_at_hand.h"
#include "guest_support/scratch_folder.h"

ROOFLAB_ENTRY(sweep) {
  const rooflab::CublasHandle cublas;

  const rooflab::RandomArray x(kSweepElements, 1);
  const rooflab::RandomArray y(kSweepElements, 2);
  const rooflab::RandomArray out(kSweepElements, 3);
  const rooflab::GpuAtHand gpu = rooflab::gpu_at_hand();
  const SweepDevice device{.name = gpu.name,
                           .gpu = gpu.peaks,
                           .kind = gpu.kind,
                           .cublas = cublas.get(),
                           .x = x.data(),
                           .y = y.data(),
                           .out = out.data()};
  const rooflab::ScratchFolder folder;
  sweep(device, folder.path());

  call.result("inputs_changed", std::int64_t{x.is_changed() || y.is_changed()});
  call.result("flops_per_second", device.gpu.flops_per_second);
  call.result("bytes_per_second", device.gpu.bytes_per_second);
  for (const char* kind : {"json", "csv", "svg"}) {
    call.result(kind, folder.contents("roofline." + std::string(kind)));
  }
}

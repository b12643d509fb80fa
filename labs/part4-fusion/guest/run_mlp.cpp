#include "run_mlp.h"

#include <sstream>
#include <stdexcept>

#include "guest_support/cublas_handle.h"
#include "guest_support/device_memory.h"
#include "guest_support/gpu_at_hand.h"
#include "parameters.h"

namespace {

using rooflab::GuestCall;
using bf16 = __nv_bfloat16;

/// Bytes of the two markers around one more call; oracle/run_mlp.cpp knows them, too.
constexpr std::size_t kFirstMarkerBytes = 101;

/// The MLP on the grader's arrays, whose result is compared.
void multiply(GuestCall& call) {
  const auto& cublas = call.kept<rooflab::CublasHandle>("cuBLAS");
  const MlpShape shape = rooflab::mlp_shape(call);
  const auto count =
      static_cast<std::size_t>(shape.tokens) * static_cast<std::size_t>(shape.intermediate);
  const rooflab::DeviceBuffer gate(sizeof(bf16) * count, nullptr);
  const rooflab::DeviceBuffer up(sizeof(bf16) * count, nullptr);
  relu_mlp({cublas.get(), call.tensor<const bf16>("x"), call.tensor<const bf16>("gate_proj"),
            call.tensor<const bf16>("up_proj"), call.tensor<const bf16>("down_proj"),
            static_cast<bf16*>(gate.data()), static_cast<bf16*>(up.data()),
            call.tensor<bf16>("out"), shape});
}

void pass_on_spread(GuestCall& call) {
  std::vector<double> numbers;
  std::istringstream words(call.text("numbers"));
  for (double number; words >> number;) numbers.push_back(number);
  const Spread spread = spread_of(numbers);
  call.result("mean", spread.mean);
  call.result("deviation", spread.deviation);
}

/// Numbers for so many elements of bf16: bits of random floats, each half of which is one.
rooflab::RandomArray random_bf16(int rows, int columns, std::uint32_t seed) {
  return rooflab::RandomArray(
      (static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns) + 1) / 2, seed);
}

/// What a data sheet says of the GPU at hand. Tensor cores do 16 FLOPs in bf16 for each of the fp32
/// lanes on an A100, and about as many on later ones: this MLP is bound by memory on all of them.
Machine machine_at_hand() {
  constexpr double kTensorFlops = 16;
  const rooflab::Gpu peaks = rooflab::gpu_at_hand().peaks;
  return {.tensor_flops_per_second = kTensorFlops * peaks.flops_per_second,
          .cuda_flops_per_second = peaks.flops_per_second,
          .bytes_per_second = peaks.bytes_per_second,
          .l2_bytes = 0,
          .seconds_per_launch = 0};
}

void pass_on_run(GuestCall& call) {
  const rooflab::CublasHandle cublas;
  const MlpShape shape = rooflab::mlp_shape(call);
  const auto x = random_bf16(shape.tokens, shape.hidden, 1);
  const auto gate_proj = random_bf16(shape.intermediate, shape.hidden, 2);
  const auto up_proj = random_bf16(shape.intermediate, shape.hidden, 3);
  const auto down_proj = random_bf16(shape.hidden, shape.intermediate, 4);
  const auto gate = random_bf16(shape.tokens, shape.intermediate, 5);
  const auto up = random_bf16(shape.tokens, shape.intermediate, 6);
  const auto out = random_bf16(shape.tokens, shape.hidden, 7);
  const auto of = [](const rooflab::RandomArray& array) {
    return reinterpret_cast<bf16*>(array.data());
  };
  const ReluMlp mlp = {cublas.get(), of(x),  of(gate_proj), of(up_proj), of(down_proj),
                       of(gate),     of(up), of(out),       shape};
  const Machine machine = machine_at_hand();
  const RunReport report = run_mlp(mlp, machine);

  // One more call, between two fills of lengths of their own: there the grader finds its kernels.
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaMemsetAsync(out.data(), 0, kFirstMarkerBytes, nullptr));
  relu_mlp(mlp);
  CUDA_CHECK(cudaMemsetAsync(out.data(), 0, kFirstMarkerBytes + 1, nullptr));
  CUDA_CHECK(cudaDeviceSynchronize());

  call.result("flops_per_second", machine.cuda_flops_per_second);
  call.result("bytes_per_second", machine.bytes_per_second);
  call.result("mean_us", report.mean_us);
  call.result("deviation_us", report.deviation_us);
  call.result("idle_us", report.idle_us);
  call.result("estimate_us", report.estimate_us);
  call.result("intermediates_us", report.intermediates_us);
  call.result("rest_us", report.rest_us);
}

}  // namespace

ROOFLAB_ENTRY(run_mlp) {
  const std::string& function = call.text("function");
  if (function == "relu_mlp") return multiply(call);
  if (function == "spread_of") return pass_on_spread(call);
  if (function == "run_mlp") return pass_on_run(call);
  throw std::invalid_argument("part.toml names no such function: " + function);
}

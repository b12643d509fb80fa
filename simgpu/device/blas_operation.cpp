#include "simgpu/device/blas_operation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "simgpu/cublas/blas_kernels.h"
#include "simgpu/cublas/blas_request.h"
#include "simgpu/device/blas_origins.h"

namespace simgpu {
namespace {

using blas::Element;
using blas::Request;
using blas::Routine;
using blas::size_of;

/// The elements a routine touches of one operand: `columns` runs of `rows`, `leading` apart, per
/// matrix.
struct Operand {
  const char* name;
  std::uint64_t address;
  std::int64_t rows, columns, leading, stride;
  Element type;
  bool read, written;
};

std::string name_of_routine(const Request& request) {
  static constexpr std::array kNames{"gemm", "gemv", "axpy", "dot", "scal", "nrm2"};
  const char* letter = "s";
  if (request.input == Element::f64) letter = "d";
  if (request.input == Element::f16) letter = "h";
  if (request.input == Element::bf16) letter = "bf16_";
  return fmt::format("cublas_{}{}{}", letter, kNames.at(static_cast<std::size_t>(request.routine)),
                     request.batch > 1 ? "_strided_batched" : "");
}

bool is_well_formed(const Request& request) {
  constexpr std::int64_t kMostElements = std::int64_t{1} << 36;
  const bool known = request.routine < Routine::count && request.input < Element::count &&
                     request.output < Element::count;
  const bool sizes = request.m >= 0 && request.n >= 0 && request.k >= 0 && request.batch >= 0;
  for (const std::int64_t stride : {request.stride_a, request.stride_b, request.stride_c}) {
    if (stride < 0 || stride > kMostElements) return false;
  }
  for (const std::int64_t leading : {request.lda, request.ldb, request.ldc}) {
    if (leading < 0 || leading > INT32_MAX) return false;
  }
  if (request.routine != Routine::gemm && request.batch != 1) return false;
  const bool same_type = request.routine == Routine::gemm || request.input == request.output;
  const bool vector_type = request.routine == Routine::gemm || request.input == Element::f32 ||
                           request.input == Element::f64;
  const bool wide = (request.input == Element::f64) == (request.output == Element::f64);
  return known && sizes && same_type && vector_type && wide;
}

std::vector<Operand> gemm_operands(const Request& request, bool reads_c) {
  const bool ta = request.transpose_a != 0, tb = request.transpose_b != 0;
  return {{"A", request.a, ta ? request.k : request.m, ta ? request.m : request.k, request.lda,
           request.stride_a, request.input, true, false},
          {"B", request.b, tb ? request.n : request.k, tb ? request.k : request.n, request.ldb,
           request.stride_b, request.input, true, false},
          {"C", request.c, request.m, request.n, request.ldc, request.stride_c, request.output,
           reads_c, true}};
}

/// A vector is a matrix of one row, so that its increment is the leading dimension.
Operand vector_operand(const char* name, std::uint64_t address, std::int64_t count,
                       std::int64_t step, Element type, bool read, bool written) {
  return {name, address, 1, count, step, 0, type, read, written};
}

std::vector<Operand> operands_of(const Request& request, double beta) {
  const Element type = request.input;
  switch (request.routine) {
    case Routine::gemm:
      return gemm_operands(request, beta != 0);
    case Routine::gemv: {
      const bool transposed = request.transpose_a != 0;
      const std::int64_t x = transposed ? request.m : request.n;
      const std::int64_t y = transposed ? request.n : request.m;
      return {{"A", request.a, request.m, request.n, request.lda, 0, type, true, false},
              vector_operand("x", request.b, x, request.ldb, type, true, false),
              vector_operand("y", request.c, y, request.ldc, type, beta != 0, true)};
    }
    case Routine::axpy:
      return {vector_operand("x", request.b, request.n, request.ldb, type, true, false),
              vector_operand("y", request.c, request.n, request.ldc, type, true, true)};
    case Routine::dot:
      return {vector_operand("x", request.b, request.n, request.ldb, type, true, false),
              vector_operand("y", request.c, request.n, request.ldc, type, true, false)};
    case Routine::scal:
      return {vector_operand("x", request.b, request.n, request.ldb, type, true, true)};
    default:
      return {vector_operand("x", request.b, request.n, request.ldb, type, true, false)};
  }
}

/// Bytes from the operand's first element to behind its last; of more than any memory holds, the
/// largest number, for the true one may not fit.
std::uint64_t extent(const Operand& operand, std::int64_t batch) {
  if (operand.rows == 0 || operand.columns == 0 || batch == 0) return 0;
  constexpr double kMostElements = 0x1p48;
  const auto product = [](std::int64_t a, std::int64_t b) {
    return static_cast<double>(a) * static_cast<double>(b);
  };
  if (product(operand.columns - 1, operand.leading) + product(batch - 1, operand.stride) >
      kMostElements) {
    return std::numeric_limits<std::uint64_t>::max();
  }
  const std::int64_t elements =
      (operand.columns - 1) * operand.leading + operand.rows + (batch - 1) * operand.stride;
  return static_cast<std::uint64_t>(elements) * size_of(operand.type);
}

double bytes_of(const Operand& operand, std::int64_t batch) {
  return static_cast<double>(operand.rows) * static_cast<double>(operand.columns) *
         static_cast<double>(batch) * static_cast<double>(size_of(operand.type));
}

/// Whether an operand before this one is the same matrix: it crosses DRAM once for both.
bool is_read_already(const Operand& operand, const std::vector<Operand>& operands,
                     std::int64_t batch) {
  for (const Operand& before : operands) {
    if (&before == &operand) return false;
    if (before.read && before.address == operand.address &&
        extent(before, batch) == extent(operand, batch)) {
      return true;
    }
  }
  return false;
}

class BlasCall {
 public:
  BlasCall(Device& device, const Request& request) : device_(device), request_(request) {}

  CudaError run(double* result);

 private:
  bool load_scalar(std::uint64_t address, double* value) const;
  bool store_result(double value);
  bool check(const Operand& operand);
  bool check_workspace();
  bool check_work(const std::vector<Operand>& operands);
  template <typename Visit>
  void for_each_column(const Operand& operand, Visit visit) const;
  void check_initialized(const Operand& operand, double beta);
  void fail_beyond_any_memory(const Operand& operand);
  LibraryKernel cost(const std::vector<Operand>& operands) const;
  std::vector<StreamRaces::Range> touched(const std::vector<Operand>& operands) const;
  HostTraffic host_traffic(const std::vector<Operand>& operands) const;
  void keep_managed(const std::vector<Operand>& operands) const;
  void note_result_for_host() const;

  Device& device_;
  const Request& request_;
};

bool BlasCall::load_scalar(std::uint64_t address, double* value) const {
  if (request_.scalars_on_device == 0) return true;
  if (request_.input == Element::f64) {
    return device_.memory().read(address, std::as_writable_bytes(std::span(value, 1)));
  }
  float narrow = 0;
  if (!device_.memory().read(address, std::as_writable_bytes(std::span(&narrow, 1)))) return false;
  *value = narrow;
  return true;
}

bool BlasCall::store_result(double value) {
  if (request_.input == Element::f64) {
    return device_.memory().write(request_.result_address, std::as_bytes(std::span(&value, 1)));
  }
  const auto narrow = static_cast<float>(value);
  return device_.memory().write(request_.result_address, std::as_bytes(std::span(&narrow, 1)));
}

bool BlasCall::check(const Operand& operand) {
  const std::uint64_t bytes = extent(operand, request_.batch);
  if (bytes == 0) return true;
  if (bytes >= kBeyondAnyGpu) {
    fail_beyond_any_memory(operand);
    return false;
  }
  const bool aligned = operand.address % size_of(operand.type) == 0;
  if (aligned && device_.memory().find(operand.address, bytes) != nullptr) return true;
  std::string place = "no allocation is there";
  auto detail = FindingDetail::operand_without_memory;
  if (const Allocation* near = device_.memory().nearest(operand.address);
      near != nullptr && operand.address >= near->base &&
      operand.address - near->base < near->bytes) {
    place = fmt::format("the allocation of {} bytes{} ends before that", near->bytes,
                        near->live ? "" : ", freed,");
    detail = FindingDetail::operand_too_long;
  }
  if (!aligned) {
    place = "the address is no multiple of the element's size";
    detail = FindingDetail::operand_too_long;
  }
  device_.library_kernels().fail(
      {.code = aligned ? Code("RL0201") : Code("RL0204"),
       .detail = detail,
       .kernel = name_of_routine(request_),
       .name = operand.name,
       .message = fmt::format(
           "{} with {} x {} elements and leading dimension {} takes {} bytes at {:#x}: {}",
           operand.name, operand.rows, operand.columns, operand.leading, bytes, operand.address,
           place)});
  return false;
}

void BlasCall::fail_beyond_any_memory(const Operand& operand) {
  device_.library_kernels().fail(
      {.code = "RL0201",
       .detail = FindingDetail::beyond_any_memory,
       .kernel = name_of_routine(request_),
       .name = operand.name,
       .message = fmt::format("{} would have {} x {} elements with leading dimension {}, which is "
                              "more than any GPU has memory for",
                              operand.name, operand.rows, operand.columns, operand.leading)});
}

/// What the handle was given is to last as long as the handle has it.
bool BlasCall::check_workspace() {
  const bool has_some = request_.workspace_bytes != 0;
  if (!has_some || device_.memory().find(request_.workspace, request_.workspace_bytes) != nullptr) {
    return true;
  }
  const Allocation* near = device_.memory().nearest(request_.workspace);
  const bool freed = near != nullptr && !near->live && request_.workspace >= near->base &&
                     request_.workspace - near->base < near->bytes;
  device_.library_kernels().fail(
      {.code = "RL0201",
       .kernel = name_of_routine(request_),
       .message = fmt::format("the workspace of cublasSetWorkspace takes {} bytes at {:#x}: {}",
                              request_.workspace_bytes, request_.workspace,
                              freed ? "that memory was freed, and the handle has it still"
                                    : "no allocation of that size is there")});
  return false;
}

/// A stride of 0 has no end in memory, and a product of three sizes none that matters: work has the
/// bound that kernels have. OpenBLAS does some 256 multiply-adds in the time of a warp instruction;
/// a column of an operand takes about as long as one.
bool BlasCall::check_work(const std::vector<Operand>& operands) {
  constexpr double kAsOneInstruction = 256;
  const double batch = request_.batch;
  double work = static_cast<double>(request_.m) * request_.n / kAsOneInstruction;
  if (request_.routine == Routine::gemm) work *= batch * std::max(request_.k, 1);
  if (device_.options().sampled) work = 0;  // it is only timed
  for (const Operand& operand : operands) work += batch * static_cast<double>(operand.columns);
  if (work <= static_cast<double>(device_.options().instruction_budget)) return true;
  device_.library_kernels().fail(
      {.code = "RL0319",
       .kernel = name_of_routine(request_),
       .message =
           fmt::format("m = {}, n = {}, k = {} and a batch of {} are the work of {:.0f} warp "
                       "instructions, and a launch may have {}",
                       request_.m, request_.n, request_.k, request_.batch, work,
                       device_.options().instruction_budget)});
  return false;
}

template <typename Visit>
void BlasCall::for_each_column(const Operand& operand, Visit visit) const {
  const std::uint64_t size = size_of(operand.type);
  for (std::int64_t i = 0; i < request_.batch; ++i) {
    for (std::int64_t column = 0; column < operand.columns; ++column) {
      const auto first = static_cast<std::uint64_t>(i * operand.stride + column * operand.leading);
      visit(operand.address + first * size, static_cast<std::uint64_t>(operand.rows) * size);
    }
  }
}

void BlasCall::check_initialized(const Operand& operand, double beta) {
  bool complete = true;
  for_each_column(operand, [&](std::uint64_t address, std::uint64_t bytes) {
    complete = complete && device_.memory().is_initialized(address, bytes);
  });
  if (complete) return;
  const bool has_beta = request_.routine == Routine::gemm || request_.routine == Routine::gemv;
  const bool is_added_to = has_beta && operand.written;
  const std::string why =
      is_added_to
          ? fmt::format(": beta is {}, so the call adds to what {} holds", beta, operand.name)
          : "";
  device_.log().add(Finding{
      .code = "RL0205",
      .detail = is_added_to ? FindingDetail::result_added_to : FindingDetail::operand_unwritten,
      .kernel = name_of_routine(request_),
      .where = device_.log().host_site(),
      .name = operand.name,
      .message = fmt::format("{} is read before all of it has been written{}", operand.name, why)});
}

LibraryKernel BlasCall::cost(const std::vector<Operand>& operands) const {
  LibraryKernel kernel;
  kernel.name = name_of_routine(request_);
  const double m = request_.m, n = request_.n, k = request_.k;
  switch (request_.routine) {
    case Routine::gemm:
      kernel.flops = 2 * m * n * k * request_.batch;
      break;
    case Routine::gemv:
      kernel.flops = 2 * m * n;
      break;
    case Routine::scal:
      kernel.flops = n;
      break;
    default:
      kernel.flops = 2 * n;
      break;
  }
  for (const Operand& operand : operands) {
    const double bytes = bytes_of(operand, request_.batch);
    const bool is_repeated = is_read_already(operand, operands, request_.batch);
    if (operand.read && !is_repeated) kernel.read_bytes += bytes;
    if (operand.written) kernel.stored_bytes += bytes;
  }
  kernel.flop_type = "fp32";
  if (request_.input == Element::f64) kernel.flop_type = "fp64";
  if (request_.input == Element::f16) kernel.flop_type = "fp16_tensor";
  if (request_.input == Element::bf16) kernel.flop_type = "bf16_tensor";
  if (request_.tf32 != 0) kernel.flop_type = "tf32_tensor";
  if (request_.routine == Routine::gemm) {
    kernel.product = {.m = static_cast<std::uint64_t>(request_.m),
                      .n = static_cast<std::uint64_t>(request_.n),
                      .k = static_cast<std::uint64_t>(request_.k),
                      .batch = static_cast<std::uint64_t>(request_.batch),
                      .flop_type = kernel.flop_type};
  }
  return kernel;
}

/// Columns that follow each other without a gap are one range. Of very many with gaps nothing is
/// told: what lies between them belongs to somebody else.
std::vector<StreamRaces::Range> BlasCall::touched(const std::vector<Operand>& operands) const {
  constexpr std::size_t kMostRanges = 4096;
  std::vector<StreamRaces::Range> ranges;
  for (const Operand& operand : operands) {
    const std::size_t before = ranges.size();
    for_each_column(operand, [&](std::uint64_t address, std::uint64_t bytes) {
      const bool follows = ranges.size() > before && ranges.back().end == address;
      if (follows) {
        ranges.back().end += bytes;
      } else if (ranges.size() - before <= kMostRanges) {
        ranges.push_back({.begin = address, .end = address + bytes, .writes = operand.written});
      }
    });
    if (ranges.size() - before > kMostRanges) ranges.resize(before);
  }
  const std::uint64_t scalar = request_.input == Element::f64 ? 8 : 4;
  const auto add = [&](std::uint64_t address, std::uint64_t bytes, bool writes) {
    if (address != 0 && bytes != 0) ranges.push_back({address, address + bytes, writes});
  };
  if (request_.scalars_on_device != 0) {
    add(request_.alpha_address, scalar, false);
    add(request_.beta_address, scalar, false);
    add(request_.result_address, scalar, true);
  }
  add(request_.workspace, request_.workspace_bytes, true);
  return ranges;
}

HostTraffic BlasCall::host_traffic(const std::vector<Operand>& operands) const {
  HostTraffic traffic;
  if (!device_.memory().shares_memory()) return traffic;
  const std::vector<ByteRange> of_host = device_.managed().written_by_host(device_.memory());
  for (const Operand& operand : operands) {
    add_operand({.address = operand.address,
                 .end = operand.address + extent(operand, request_.batch),
                 .bytes = bytes_of(operand, request_.batch),
                 .read = operand.read,
                 .written = operand.written},
                device_.memory(), of_host, traffic);
  }
  return traffic;
}

void BlasCall::keep_managed(const std::vector<Operand>& operands) const {
  if (!device_.memory().shares_memory()) return;
  std::vector<ByteRange> ranges;
  for (const Operand& operand : operands) {
    ranges.push_back({operand.address, extent(operand, request_.batch)});
  }
  device_.managed().keep(device_.memory(), std::move(ranges));
}

/// A sum or a norm that the reply brings to the host is a copy to it.
void BlasCall::note_result_for_host() const {
  const bool is_reduction = request_.routine == Routine::dot || request_.routine == Routine::nrm2;
  if (!is_reduction || request_.result_address != 0) return;
  MemoryRecord record;
  record.sequence = device_.log().next_sequence();
  record.operation = MemoryOperation::copy_to_host;
  record.bytes = size_of(request_.input);
  device_.log().add(record);
}

CudaError BlasCall::run(double* result) {
  blas::Operands where{.alpha = request_.alpha, .beta = request_.beta};
  if (!load_scalar(request_.alpha_address, &where.alpha) && request_.alpha_address != 0) {
    return CudaError::invalid_value;
  }
  if (!load_scalar(request_.beta_address, &where.beta) && request_.beta_address != 0) {
    return CudaError::invalid_value;
  }
  const std::vector<Operand> operands = operands_of(request_, where.beta);
  for (const Operand& operand : operands) {
    if (operand.leading < operand.rows || operand.leading < 1) return CudaError::invalid_value;
    // As on a GPU, the call comes back and the fault shows at the next synchronisation.
    if (!check(operand)) return CudaError::success;
  }
  if (!check_workspace()) return CudaError::success;
  const bool empty =
      operands.back().rows == 0 || operands.back().columns == 0 || request_.batch == 0;
  if (!empty && !check_work(operands)) return CudaError::success;
  LibraryKernel kernel = cost(operands);
  if (!empty) {
    kernel.host = host_traffic(operands);
    if (device_.options().checkers && !device_.options().sampled) {
      for (const Operand& operand : operands) {
        if (operand.read) check_initialized(operand, where.beta);
      }
    }
    DeviceMemory& memory = device_.memory();
    const auto host = [&memory](std::uint64_t address) {
      return address == 0 ? nullptr : memory.host(address);
    };
    where.a = host(request_.a);
    where.b = host(request_.b);
    where.c = host(request_.c);
    if (!device_.options().sampled) *result = blas::run(request_, where);
    for (const Operand& operand : operands) {
      if (!operand.written) continue;
      memory.note_change(operand.address);
      for_each_column(operand, [&memory](std::uint64_t address, std::uint64_t bytes) {
        memory.mark_initialized(address, bytes);
      });
    }
  }
  if (device_.provenance() != nullptr && !device_.options().sampled) {
    follow_routine(*device_.provenance(), request_, where.alpha, where.beta);
  }
  const bool stores = request_.result_address != 0 && !device_.options().sampled;
  if (stores && !store_result(*result)) return CudaError::invalid_value;
  if (!empty) keep_managed(operands);
  if (!empty) kernel.touched = [&] { return touched(operands); };
  const CudaError error = device_.library_kernels().finish(kernel, request_.stream);
  if (error == CudaError::success && !empty) note_result_for_host();
  return error;
}

}  // namespace

CudaError blas_operation(Device& device, wire::Reader& reader, wire::Writer& writer) {
  const auto request = reader.get<Request>();
  double result = 0;
  if (!is_well_formed(request)) return CudaError::invalid_value;
  if (!device.timeline().has_stream(request.stream)) return CudaError::invalid_resource_handle;
  const CudaError error = BlasCall(device, request).run(&result);
  // The host waits for a result that is handed back to it.
  const bool returns = request.routine == Routine::dot || request.routine == Routine::nrm2;
  if (returns && request.result_address == 0) {
    device.streams().synchronize(device.timeline().ready(request.stream));
    device.streams().host_waited_for_stream(request.stream);
  }
  writer.put(result);
  return error;
}

}  // namespace simgpu

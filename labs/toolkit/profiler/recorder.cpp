#include "labs/toolkit/profiler/recorder.h"

#include <cuda_runtime.h>
#include <cxxabi.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <set>
#include <stdexcept>
#include <tuple>

#include "labs/toolkit/profiler/occupancy.h"
#include "toolkit/check.h"

namespace rooflab {
namespace {

// Records are read in the forms of CUPTI 12.4, to which later versions only append.
using Kind = ProfiledEvent::Kind;

constexpr std::array kKinds{
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,  // kind KERNEL would run kernels one after another
    CUPTI_ACTIVITY_KIND_MEMCPY,
    CUPTI_ACTIVITY_KIND_MEMSET,
    CUPTI_ACTIVITY_KIND_RUNTIME,
    CUPTI_ACTIVITY_KIND_DRIVER,
    CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
    CUPTI_ACTIVITY_KIND_MEMORY2,
};
constexpr auto kRangeIds = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;

/// CUPTI's callbacks carry no argument of ours, so they find the recorder here.
std::atomic<Recorder*>& living_recorder() {
  static std::atomic<Recorder*> recorder{nullptr};
  return recorder;
}

/// As CUPTI names threads on Linux unless told otherwise.
std::uint64_t this_thread() { return static_cast<std::uint32_t>(pthread_self()); }

std::string demangled(const char* name) {
  if (name == nullptr) return "unknown kernel";
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : name;
}

/// What the program called: "cudaMalloc" of "cudaMalloc_v3020" and of "cudaMalloc_ptsz_v3020", and
/// "cudaLaunchKernel" of "__cudaLaunchKernel_v13000", which nvcc makes of `<<<>>>`.
std::string plain_name(std::string name) {
  name.resize(std::min(name.rfind("_v"), name.size()));
  name.erase(0, name.find_first_not_of('_'));
  for (const std::string_view form : {"_ptsz", "_ptds"}) {
    if (name.ends_with(form)) name.resize(name.size() - form.size());
  }
  return name;
}

const char* copy_name(std::uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      return "Memcpy HtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      return "Memcpy DtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
      return "Memcpy DtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
      return "Memcpy HtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return "Memcpy PtoP";
    default:
      return "Memcpy";
  }
}

template <typename Record>
ProfiledEvent device_event(Kind kind, const Record& record) {
  ProfiledEvent event;
  event.kind = kind;
  event.correlation = record.correlationId;
  event.stream = record.streamId;
  event.graph = record.graphId;
  return event;
}

ProfiledEvent kernel_event(const CUpti_ActivityKernel9& kernel) {
  ProfiledEvent event = device_event(Kind::kernel, kernel);
  const auto count = [](std::int32_t extent) { return static_cast<std::uint32_t>(extent); };
  event.name = demangled(kernel.name);
  event.grid = {count(kernel.gridX), count(kernel.gridY), count(kernel.gridZ)};
  event.block = {count(kernel.blockX), count(kernel.blockY), count(kernel.blockZ)};
  event.registers_per_thread = kernel.registersPerThread;
  event.shared_bytes = static_cast<std::uint64_t>(kernel.staticSharedMemory) +
                       static_cast<std::uint64_t>(kernel.dynamicSharedMemory);
  return event;
}

}  // namespace

Recorder::Recorder() {
  Recorder* none = nullptr;
  if (!living_recorder().compare_exchange_strong(none, this)) {
    throw std::logic_error(
        "a Profiler is at work already, and CUPTI has room for one: finish it "
        "and let it go out of scope first");
  }
  try {
    cupti_.check(cupti_.register_callbacks(request_buffer, take_buffer),
                 "cuptiActivityRegisterCallbacks");
  } catch (...) {
    living_recorder() = nullptr;
    throw;
  }
}

Recorder::~Recorder() {
  if (recording_) {
    for (const CUpti_ActivityKind kind : kKinds) cupti_.disable(kind);
    cupti_.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  }
  living_recorder() = nullptr;
}

Recorder* Recorder::current() { return living_recorder(); }

void Recorder::start() {
  recording_ = true;
  for (const CUpti_ActivityKind kind : kKinds) {
    cupti_.check(cupti_.enable(kind), "cuptiActivityEnable");
  }
}

void Recorder::synchronise() {
  CUDA_CHECK(cudaDeviceSynchronize());
  cupti_.check(cupti_.flush_all(0), "cuptiActivityFlushAll");
}

void Recorder::forget() {
  synchronise();
  std::size_t dropped = 0;
  cupti_.dropped_records(nullptr, 0, &dropped);
  const std::lock_guard lock(mutex_);
  events_.clear();
  open_ranges_.clear();
  range_of_call_.clear();
  memory_of_call_.clear();
  dropped_ = 0;
}

void Recorder::stop() {
  CUDA_CHECK(cudaDeviceSynchronize());
  for (const CUpti_ActivityKind kind : kKinds) {
    cupti_.check(cupti_.disable(kind), "cuptiActivityDisable");
  }
  recording_ = false;
  cupti_.check(cupti_.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "cuptiActivityFlushAll");
  std::size_t dropped = 0;
  cupti_.check(cupti_.dropped_records(nullptr, 0, &dropped), "cuptiActivityGetNumDroppedRecords");
  const std::lock_guard lock(mutex_);
  dropped_ += dropped;
}

std::uint64_t Recorder::now() const {
  std::uint64_t time = 0;
  cupti_.check(cupti_.timestamp(&time), "cuptiGetTimestamp");
  return time;
}

std::uint64_t Recorder::begin_range(std::string_view name, double flops, double bytes) {
  if (!recording_) return 0;
  Recorded range;
  range.event.kind = Kind::range;
  range.event.name = name;
  range.event.thread = this_thread();
  range.event.theoretical_flops = flops;
  range.event.theoretical_bytes = bytes;
  range.start_ns = now();
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    range.number = number = ++ranges_;
    for (const Recorded& open : open_ranges_) {
      if (open.event.thread == range.event.thread) range.range = open.number;
    }
    open_ranges_.push_back(std::move(range));
  }
  cupti_.check(cupti_.push_external(kRangeIds, number), "cuptiActivityPushExternalCorrelationId");
  return number;
}

void Recorder::end_range(std::uint64_t number) {
  if (number == 0) return;
  std::uint64_t last = 0;
  cupti_.pop_external(kRangeIds, &last);
  std::uint64_t time = 0;
  cupti_.timestamp(&time);
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(open_ranges_, number, &Recorded::number);
  if (found == open_ranges_.end()) return;  // begun before what is kept
  found->end_ns = time;
  events_.push_back(std::move(*found));
  open_ranges_.erase(found);
}

void Recorder::request_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  constexpr std::size_t kBytes = 1 << 20;
  constexpr std::size_t kAlignment = 8;  // ACTIVITY_RECORD_ALIGNMENT
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, kBytes));
  *size = *buffer == nullptr ? 0 : kBytes;
  *most_records = 0;  // as many as fit
}

void Recorder::take_buffer(CUcontext /*context*/, std::uint32_t /*stream*/, std::uint8_t* buffer,
                           std::size_t /*size*/, std::size_t valid) {
  const std::unique_ptr<std::uint8_t, decltype(&std::free)> owner(buffer, &std::free);
  Recorder* recorder = current();
  if (recorder == nullptr) return;
  CUpti_Activity* record = nullptr;
  const std::lock_guard lock(recorder->mutex_);
  while (recorder->cupti_.next_record(buffer, valid, &record) == CUPTI_SUCCESS) {
    recorder->read(record);
  }
}

void Recorder::read(CUpti_Activity* record) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto& kernel = *reinterpret_cast<const CUpti_ActivityKernel9*>(record);
      events_.push_back(
          {.event = kernel_event(kernel),
           .start_ns = kernel.start,
           .end_ns = kernel.end,
           .grid_id = kernel.gridId,
           .static_shared_bytes = static_cast<std::uint64_t>(kernel.staticSharedMemory)});
      return;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& copy = *reinterpret_cast<const CUpti_ActivityMemcpy5*>(record);
      ProfiledEvent event = device_event(Kind::copy, copy);
      event.name = copy_name(copy.copyKind);
      event.bytes = copy.bytes;
      events_.push_back({.event = std::move(event), .start_ns = copy.start, .end_ns = copy.end});
      return;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto& fill = *reinterpret_cast<const CUpti_ActivityMemset4*>(record);
      ProfiledEvent event = device_event(Kind::memset, fill);
      event.name = "Memset";
      event.bytes = fill.bytes;
      events_.push_back({.event = std::move(event), .start_ns = fill.start, .end_ns = fill.end});
      return;
    }
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      add_call(*reinterpret_cast<const CUpti_ActivityAPI*>(record));
      return;
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
      const auto& external = *reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(record);
      if (external.externalKind == kRangeIds) {
        range_of_call_[external.correlationId] = external.externalId;
      }
      return;
    }
    case CUPTI_ACTIVITY_KIND_MEMORY2: {
      const auto& memory = *reinterpret_cast<const CUpti_ActivityMemory3*>(record);
      if (memory.memoryKind != CUPTI_ACTIVITY_MEMORY_KIND_DEVICE) return;
      const auto bytes = static_cast<std::int64_t>(memory.bytes);
      const bool allocated =
          memory.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
      memory_of_call_[memory.correlationId] += allocated ? bytes : -bytes;
      return;
    }
    default:
      return;
  }
}

void Recorder::add_call(const CUpti_ActivityAPI& call) {
  const bool by_driver = call.kind == CUPTI_ACTIVITY_KIND_DRIVER;
  const char* name = nullptr;
  const auto domain = by_driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API;
  if (cupti_.callback_name(domain, call.cbid, &name) != CUPTI_SUCCESS) name = nullptr;
  ProfiledEvent event;
  event.kind = Kind::api;
  event.name = name == nullptr ? "call " + std::to_string(call.cbid) : plain_name(name);
  event.correlation = call.correlationId;
  event.thread = call.threadId;
  events_.push_back({.event = std::move(event),
                     .start_ns = call.start,
                     .end_ns = call.end,
                     .by_driver = by_driver});
}

std::vector<Recorder::Recorded> Recorder::complete_events() const {
  std::set<std::uint64_t> by_runtime, on_device;
  for (const Recorded& recorded : events_) {
    if (is_device_work(recorded.event)) on_device.insert(recorded.event.correlation);
    if (recorded.event.kind == Kind::api && !recorded.by_driver) {
      by_runtime.insert(recorded.event.correlation);
    }
  }
  // The runtime itself calls the driver: such calls are kept only where a library called the
  // driver by itself and put work on the device with it.
  std::vector<Recorded> kept;
  for (const Recorded& recorded : events_) {
    const std::uint64_t correlation = recorded.event.correlation;
    const bool redundant = recorded.by_driver &&
                           (by_runtime.contains(correlation) || !on_device.contains(correlation));
    if (!redundant) kept.push_back(recorded);
  }
  std::ranges::stable_sort(kept, {}, [](const Recorded& one) {
    return std::tuple(one.start_ns, ~one.end_ns, one.event.kind != Kind::range);
  });
  return kept;
}

Profile Recorder::take() const {
  const std::lock_guard lock(mutex_);
  Profile profile;
  profile.device = describe_device();
  profile.modelled = cupti_.kernel_counters != nullptr;
  profile.dropped = dropped_;
  const std::vector<Recorded> recorded = complete_events();
  std::map<std::uint64_t, std::ptrdiff_t> range_index;  // by number
  std::map<std::uint64_t, std::uint64_t> threads;       // by CUPTI's number
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    if (recorded[i].number != 0) range_index[recorded[i].number] = static_cast<std::ptrdiff_t>(i);
  }
  const std::uint64_t base = recorded.empty() ? 0 : recorded.front().start_ns;
  const auto index_of = [&](std::uint64_t number) {
    const auto found = range_index.find(number);
    return found == range_index.end() ? ProfiledEvent::kNoRange : found->second;
  };
  for (const Recorded& from : recorded) {
    ProfiledEvent event = from.event;
    event.start_us = static_cast<double>(from.start_ns - base) * 1e-3;
    event.duration_us =
        static_cast<double>(from.end_ns - std::min(from.start_ns, from.end_ns)) * 1e-3;
    fill_in(event, from, profile.device);
    if (!is_device_work(event)) {
      event.thread = threads.emplace(event.thread, threads.size()).first->second;
    }
    const auto around = range_of_call_.find(static_cast<std::uint32_t>(event.correlation));
    if (event.kind == Kind::range) {
      event.range = index_of(from.range);
    } else if (around != range_of_call_.end()) {
      event.range = index_of(around->second);
    }
    profile.events.push_back(std::move(event));
  }
  return profile;
}

void Recorder::fill_in(ProfiledEvent& event, const Recorded& from,
                       const ProfiledDevice& device) const {
  if (event.kind == Kind::kernel) {
    estimate_occupancy(event, device, from.static_shared_bytes);
    if (cupti_.kernel_counters != nullptr) {
      cupti_.kernel_counters(static_cast<std::uint32_t>(event.correlation), from.grid_id,
                             &event.flops, &event.dram_bytes);
    }
  }
  const auto memory = memory_of_call_.find(static_cast<std::uint32_t>(event.correlation));
  if (event.kind == Kind::api && memory != memory_of_call_.end()) {
    event.memory_bytes = memory->second;
  }
}

}  // namespace rooflab

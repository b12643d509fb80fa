#pragma once

#include "simgpu/device/activity_log.h"
#include "simgpu/device/allocations.h"
#include "simgpu/device/executable_graph.h"
#include "simgpu/device/host_objects.h"
#include "simgpu/device/loaded_modules.h"
#include "simgpu/device/memory_pools.h"
#include "simgpu/device/timeline.h"
#include "simgpu/exec/kernel_heap.h"
#include "simgpu/memory/device_memory.h"

namespace simgpu {

/// What keeps what a program should have given back by its end.
struct Leftovers {
  DeviceMemory& memory;
  const Allocations& allocations;
  const KernelHeap& heap;
  const Timeline& timeline;
  const GraphTable& graphs;
  const LoadedModules& modules;
  const MemoryPools& pools;
  const HostObjects& host_objects;
};

/// What the program has not given back becomes findings (RL0309): one for each size and function of
/// allocations, and for each kind of handle.
void report_leaks(const Leftovers& left, ActivityLog& log);

}  // namespace simgpu

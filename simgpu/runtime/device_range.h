#pragma once

/// What the guest knows of device addresses, and what it makes of a fault at one.
namespace simgpu::runtime {

/// Addresses that belong to the device. Of those, only memory that it shares with this process is
/// mapped here.
bool is_device_address(const void* pointer);
/// What a copy takes for memory of the device: all of it, but for pinned host memory.
bool is_device_memory(const void* pointer);
/// Whether host code may dereference it: all that is not the device's alone.
bool is_host_accessible(const void* pointer);

/// Keeps the range unmapped and turns a fault in it into a message (RL0207) before the signal takes
/// its course: a handler that the program installed earlier, or death.
void reserve_device_range();
bool device_range_is_reserved();

}  // namespace simgpu::runtime

#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "simgpu/device/device_process.h"

namespace rooflab {

/// Ends the device process when it takes too long, so that no call to it can block for ever.
class Deadline {
 public:
  Deadline(simgpu::DeviceProcess& device, std::chrono::duration<double> patience)
      : thread_([this, &device, patience] {
          std::unique_lock lock(mutex_);
          if (!changed_.wait_for(lock, patience, [this] { return over_; })) {
            passed_ = true;
            device.kill();
          }
        }) {}
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline() { finish(); }
  /// Whether the device had to be ended.
  bool finish() {
    if (thread_.joinable()) {
      {
        const std::lock_guard lock(mutex_);
        over_ = true;
      }
      changed_.notify_all();
      thread_.join();
    }
    return passed_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  bool passed_ = false;
  std::thread thread_;
};

}  // namespace rooflab

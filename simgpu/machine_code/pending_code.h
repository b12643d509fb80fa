#pragma once

#include <atomic>
#include <future>
#include <string>

#include "simgpu/machine_code/assembler.h"

namespace simgpu::machine_code {

/// Machine code of one module that is made on a thread of its own, beside other work.
class PendingCode {
 public:
  /// @param assembler has to outlive this
  /// @param is_kept as in Assembler::assemble()
  PendingCode(const Assembler& assembler, std::string ptx, std::string architecture,
              bool is_kept = true);
  ~PendingCode();  ///< stops ptxas
  PendingCode(const PendingCode&) = delete;
  PendingCode& operator=(const PendingCode&) = delete;

  /// Waits for it.
  const Assembled& wait() const { return result_.get(); }

 private:
  std::atomic<bool> stop_ = false;
  std::shared_future<Assembled> result_;
};

}  // namespace simgpu::machine_code

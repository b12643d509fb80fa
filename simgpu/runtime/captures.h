#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "simgpu/runtime/graph.h"

namespace simgpu::runtime {

/// One capture, from the stream where it began to all that joined it through events.
struct CaptureSession {
  using StreamNumber = std::uint64_t;

  unsigned long long id = 0;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;
  StreamNumber origin = 0;
  bool invalidated = false;
  bool blocking = false;  ///< one of its streams waits for the legacy stream
  std::shared_ptr<Graph> own;
  Graph* graph = nullptr;  ///< its own, or the program's
  /// What the next node of each stream depends on.
  std::map<StreamNumber, std::vector<Node*>> frontiers;
};

/// Where an event was recorded last, if that was in a capture.
struct RecordedEvent {
  unsigned long long session = 0;
  std::vector<Node*> dependencies;
};

/// The captures under way, and the events of captures. Whoever looks at either holds the lock of
/// all graphs.
class Captures {
 public:
  /// No capture, no captured event: all calls go through. Takes no lock.
  bool none() const { return none_; }
  const std::vector<std::unique_ptr<CaptureSession>>& sessions() const { return sessions_; }

  void add(std::unique_ptr<CaptureSession> session) {
    session->id = next_id_++;
    sessions_.push_back(std::move(session));
    none_ = false;
  }
  void end(const CaptureSession* session) {
    std::erase_if(sessions_, [&](const auto& other) { return other.get() == session; });
    update_none();
  }
  CaptureSession* with_stream(CaptureSession::StreamNumber stream) const {
    for (const auto& session : sessions_) {
      if (session->frontiers.contains(stream)) return session.get();
    }
    return nullptr;
  }
  CaptureSession* with_id(unsigned long long id) const {
    for (const auto& session : sessions_) {
      if (session->id == id) return session.get();
    }
    return nullptr;
  }

  void record(cudaEvent_t event, RecordedEvent where) { events_[event] = std::move(where); }
  const RecordedEvent* find(cudaEvent_t event) const {
    const auto found = events_.find(event);
    return found == events_.end() ? nullptr : &found->second;
  }
  void forget(cudaEvent_t event) {
    events_.erase(event);
    update_none();
  }

  void clear() {
    sessions_.clear();
    events_.clear();
    update_none();
  }

 private:
  void update_none() { none_ = sessions_.empty() && events_.empty(); }

  std::vector<std::unique_ptr<CaptureSession>> sessions_;
  std::map<cudaEvent_t, RecordedEvent> events_;
  unsigned long long next_id_ = 1;
  std::atomic<bool> none_ = true;
};

}  // namespace simgpu::runtime

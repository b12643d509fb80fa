#include "simgpu/runtime/capture.h"

#include <algorithm>
#include <set>
#include <utility>

#include "simgpu/device/timeline.h"
#include "simgpu/runtime/api.h"
#include "simgpu/runtime/context.h"

namespace simgpu::runtime {
namespace {

using Session = CaptureSession;
using StreamNumber = CaptureSession::StreamNumber;

Captures& captures() { return Context::get<Captures>(); }

cudaStreamCaptureMode& thread_mode() {
  thread_local cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  return mode;
}

int invalidate(Session& session, cudaError_t error) {
  session.invalidated = true;
  return error;
}

void merge(std::vector<Node*>& nodes, const std::vector<Node*>& more) {
  for (Node* node : more) {
    if (std::ranges::find(nodes, node) == nodes.end()) nodes.push_back(node);
  }
}

/// Work on the legacy stream would wait for streams that do nothing yet.
int permit_implicit(StreamNumber stream) {
  if (stream != Timeline::kLegacyStream) return cudaSuccess;
  int error = cudaSuccess;
  for (const auto& session : captures().sessions()) {
    if (session->blocking) error = invalidate(*session, cudaErrorStreamCaptureImplicit);
  }
  return error;
}

/// Whether a stream waits for the legacy stream. @returns a cudaError_t
int is_blocking(StreamNumber stream, bool* blocking) {
  const Reply reply = Client::instance().ask(GuestOperation::stream_info, stream);
  if (reply.ok()) *blocking = reply.reader().get<std::uint32_t>() != 0;
  return reply.error;
}

int begin(cudaStream_t stream, cudaStreamCaptureMode mode, std::shared_ptr<Graph> own, Graph* graph,
          std::vector<Node*> dependencies) {
  const StreamNumber number = stream_number(stream);
  if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed) {
    return cudaErrorInvalidValue;
  }
  if (number == Timeline::kLegacyStream) return cudaErrorStreamCaptureUnsupported;
  if (captures().with_stream(number) != nullptr) return cudaErrorIllegalState;
  bool blocking = false;
  if (const int error = is_blocking(number, &blocking); error != 0) return error;
  auto session = std::make_unique<Session>();
  session->mode = mode;
  session->thread = std::this_thread::get_id();
  session->origin = number;
  session->blocking = blocking;
  session->own = std::move(own);
  session->graph = graph;
  session->frontiers[number] = std::move(dependencies);
  captures().add(std::move(session));
  return cudaSuccess;
}

/// Whether the origin's next node would come after everything in the other streams.
bool is_joined(const Session& session) {
  std::set<const Node*> before;
  std::vector<const Node*> open;
  const auto visit = [&](const std::vector<Node*>& nodes) {
    for (const Node* node : nodes) {
      if (before.insert(node).second) open.push_back(node);
    }
  };
  visit(session.frontiers.at(session.origin));
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    visit(node->dependencies);
  }
  return std::ranges::all_of(session.frontiers, [&](const auto& frontier) {
    return std::ranges::all_of(frontier.second,
                               [&](const Node* node) { return before.contains(node); });
  });
}

}  // namespace

std::optional<int> capture(cudaStream_t stream, Work work) {
  if (captures().none()) return std::nullopt;
  const auto lock = Context::get<GraphTable>().lock();
  const StreamNumber number = stream_number(stream);
  if (const int error = permit_implicit(number); error != 0) return error;
  Session* session = captures().with_stream(number);
  if (session == nullptr) return std::nullopt;
  if (session->invalidated) return cudaErrorStreamCaptureInvalidated;
  std::vector<Node*>& frontier = session->frontiers.at(number);
  frontier = {session->graph->add(std::move(work), frontier)};
  return cudaSuccess;
}

int permit_stream(cudaStream_t stream) {
  if (captures().none()) return cudaSuccess;
  const auto lock = Context::get<GraphTable>().lock();
  const StreamNumber number = stream_number(stream);
  if (const int error = permit_implicit(number); error != 0) return error;
  Session* session = captures().with_stream(number);
  return session == nullptr ? cudaSuccess : invalidate(*session, cudaErrorStreamCaptureUnsupported);
}

int permit_destruction(cudaStream_t stream) {
  if (captures().none()) return cudaSuccess;
  const auto lock = Context::get<GraphTable>().lock();
  const StreamNumber number = stream_number(stream);
  Session* session = captures().with_stream(number);
  // What a stream that joined has issued is in the graph already, and has to be joined all the
  // same: its frontier stays, and no other stream will have its number.
  if (session == nullptr || session->origin != number) return cudaSuccess;
  return invalidate(*session, cudaErrorStreamCaptureUnsupported);
}

int permit_device() {
  if (captures().none()) return cudaSuccess;
  const auto lock = Context::get<GraphTable>().lock();
  int error = cudaSuccess;
  for (const auto& session : captures().sessions()) {
    error = invalidate(*session, cudaErrorStreamCaptureUnsupported);
  }
  return error;
}

int permit_unsafe() {
  if (captures().none() || thread_mode() == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  const auto lock = Context::get<GraphTable>().lock();
  int error = cudaSuccess;
  for (const auto& session : captures().sessions()) {
    const bool own = session->thread == std::this_thread::get_id() &&
                     session->mode != cudaStreamCaptureModeRelaxed;
    const bool others = thread_mode() == cudaStreamCaptureModeGlobal &&
                        session->mode == cudaStreamCaptureModeGlobal;
    if (own || others) error = invalidate(*session, cudaErrorStreamCaptureUnsupported);
  }
  return error;
}

void spoil_capture(cudaStream_t stream) {
  if (captures().none()) return;
  const auto lock = Context::get<GraphTable>().lock();
  if (Session* session = captures().with_stream(stream_number(stream))) session->invalidated = true;
}

int permit_event(cudaEvent_t event) {
  if (captures().none()) return cudaSuccess;
  const auto lock = Context::get<GraphTable>().lock();
  const RecordedEvent* found = captures().find(event);
  if (found == nullptr) return permit_unsafe();
  Session* session = captures().with_id(found->session);
  if (session != nullptr) session->invalidated = true;
  return cudaErrorCapturedEvent;
}

std::optional<int> capture_record(cudaEvent_t event, cudaStream_t stream) {
  if (captures().none()) return std::nullopt;
  const auto lock = Context::get<GraphTable>().lock();
  const StreamNumber number = stream_number(stream);
  if (const int error = permit_implicit(number); error != 0) return error;
  Session* session = captures().with_stream(number);
  if (session == nullptr) {
    forget_event(event);
    return std::nullopt;
  }
  if (session->invalidated) return cudaErrorStreamCaptureInvalidated;
  captures().record(event, {.session = session->id, .dependencies = session->frontiers.at(number)});
  return cudaSuccess;
}

std::optional<int> capture_wait(cudaStream_t stream, cudaEvent_t event) {
  if (captures().none()) return std::nullopt;
  const auto lock = Context::get<GraphTable>().lock();
  const StreamNumber number = stream_number(stream);
  if (const int error = permit_implicit(number); error != 0) return error;
  Session* waiting = captures().with_stream(number);
  if (waiting != nullptr && waiting->invalidated) return cudaErrorStreamCaptureInvalidated;
  const RecordedEvent* found = captures().find(event);
  if (found == nullptr) {
    if (waiting == nullptr) return std::nullopt;
    return invalidate(*waiting, cudaErrorStreamCaptureIsolation);
  }
  Session* session = captures().with_id(found->session);
  if (session == nullptr) {  // its capture has ended
    if (waiting == nullptr) return cudaErrorCapturedEvent;
    return invalidate(*waiting, cudaErrorStreamCaptureIsolation);
  }
  if (session->invalidated) return cudaErrorStreamCaptureInvalidated;
  if (waiting != nullptr && waiting != session) {
    invalidate(*waiting, cudaErrorStreamCaptureMerge);
    return invalidate(*session, cudaErrorStreamCaptureMerge);
  }
  if (waiting == nullptr) {
    if (number == Timeline::kLegacyStream) {
      return invalidate(*session, cudaErrorStreamCaptureImplicit);
    }
    bool blocking = false;
    if (const int error = is_blocking(number, &blocking); error != 0) return error;
    session->blocking = session->blocking || blocking;
  }
  merge(session->frontiers[number], found->dependencies);
  return cudaSuccess;
}

void forget_event(cudaEvent_t event) {
  if (captures().none()) return;
  const auto lock = Context::get<GraphTable>().lock();
  captures().forget(event);
}

int begin_capture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  const auto lock = Context::get<GraphTable>().lock();
  auto graph = std::make_shared<Graph>();
  return begin(stream, mode, graph, graph.get(), {});
}

int begin_capture_to(cudaStream_t stream, cudaStreamCaptureMode mode, Graph* graph,
                     std::vector<Node*> dependencies) {
  const auto lock = Context::get<GraphTable>().lock();
  return begin(stream, mode, nullptr, graph, std::move(dependencies));
}

int end_capture(cudaStream_t stream, cudaGraph_t* graph) {
  const auto lock = Context::get<GraphTable>().lock();
  const StreamNumber number = stream_number(stream);
  Session* session = captures().with_stream(number);
  if (session == nullptr) return cudaErrorIllegalState;
  if (session->origin != number) return invalidate(*session, cudaErrorStreamCaptureUnmatched);
  const bool same_thread = session->thread == std::this_thread::get_id();
  int error = cudaSuccess;
  if (!is_joined(*session)) error = cudaErrorStreamCaptureUnjoined;
  // Who may not end it ends it all the same, as on an H200.
  const bool any_thread = session->mode == cudaStreamCaptureModeRelaxed;
  if (!any_thread && !same_thread) error = cudaErrorStreamCaptureWrongThread;
  if (session->invalidated) error = cudaErrorStreamCaptureInvalidated;
  if (graph != nullptr) *graph = nullptr;
  if (error == 0 && session->own == nullptr && graph != nullptr) *graph = handle_of(session->graph);
  if (error == 0 && session->own != nullptr) {
    const cudaGraph_t captured = Context::get<GraphTable>().keep(session->own);
    if (graph != nullptr) *graph = captured;
  }
  captures().end(session);
  return error;
}

cudaStreamCaptureMode exchange_capture_mode(cudaStreamCaptureMode mode) {
  return std::exchange(thread_mode(), mode);
}

int capture_info(cudaStream_t stream, CaptureInfo* info) {
  *info = {};
  if (captures().none()) return cudaSuccess;
  const auto lock = Context::get<GraphTable>().lock();
  const StreamNumber number = stream_number(stream);
  // To ask does no harm to a capture.
  const bool implicit =
      number == Timeline::kLegacyStream &&
      std::ranges::any_of(captures().sessions(), [](const auto& other) { return other->blocking; });
  if (implicit) return cudaErrorStreamCaptureImplicit;
  Session* session = captures().with_stream(number);
  if (session == nullptr) return cudaSuccess;
  info->id = session->id;
  info->status =
      session->invalidated ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
  info->graph = session->graph;
  info->dependencies = &session->frontiers.at(number);
  return cudaSuccess;
}

}  // namespace simgpu::runtime

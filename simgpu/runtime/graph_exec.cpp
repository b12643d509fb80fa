#include "simgpu/runtime/graph_exec.h"

#include <map>
#include <mutex>
#include <utility>

#include "simgpu/runtime/api.h"

namespace simgpu::runtime {
namespace {

using protocol::GraphNodeKind;
using Items = std::vector<GraphExec::Item>;

/// The indices behind which a node comes: those of its dependencies, or what is before the graph.
std::vector<std::uint32_t> behind(const Node& node, const std::vector<std::uint32_t>& before,
                                  const std::map<const Node*, std::uint32_t>& indices) {
  if (node.dependencies.empty()) return before;
  std::vector<std::uint32_t> result;
  for (const Node* dependency : node.dependencies) result.push_back(indices.at(dependency));
  return result;
}

/// Appends the graph's nodes, those of child graphs in their place, each child closed by a node
/// that stands for it. @returns false when there is a cycle
bool append(const Graph& graph, const std::vector<std::uint32_t>& before, Items* items) {
  const std::vector<Node*> order = graph.in_order();
  if (order.size() != graph.nodes().size()) return false;
  std::map<const Node*, std::uint32_t> indices;
  for (const Node* node : order) {
    std::vector<std::uint32_t> dependencies = behind(*node, before, indices);
    Work work = node->work;
    if (const auto* child = std::get_if<ChildWork>(&node->work)) {
      const auto first = static_cast<std::uint32_t>(items->size());
      if (!append(*child->graph, dependencies, items)) return false;
      for (auto i = first; i < items->size(); ++i) dependencies.push_back(i);
      work = EmptyWork{};
    }
    indices[node] = static_cast<std::uint32_t>(items->size());
    items->push_back({.node = node,
                      .id = node->id,
                      .work = std::move(work),
                      .dependencies = std::move(dependencies)});
  }
  return true;
}

/// What the device is asked for in a node.
struct DeviceNode {
  GraphNodeKind kind = GraphNodeKind::empty;
  std::vector<std::byte> request;
};

template <typename Request>
DeviceNode node_of(GraphNodeKind kind, const Request& request) {
  wire::Writer writer;
  writer.put(request);
  return {.kind = kind, .request = writer.take()};
}

struct Encoder {
  DeviceNode* node;

  int operator()(const EmptyWork& /*work*/) const { return cudaSuccess; }
  int operator()(const ChildWork& /*work*/) const { return cudaSuccess; }
  int operator()(const AllocationWork& /*work*/) const { return cudaSuccess; }
  int operator()(const ReleaseWork& /*work*/) const { return cudaSuccess; }
  int operator()(const KernelWork& work) const {
    node->kind = GraphNodeKind::kernel;
    return launch_request(work, nullptr, &node->request);
  }
  int operator()(const BlasWork& work) const {
    *node = {.kind = GraphNodeKind::blas, .request = work.request};
    return cudaSuccess;
  }
  int operator()(const Copy& copy) const {
    if (is_empty(copy)) return cudaSuccess;
    switch (direction_of(copy)) {
      case cudaMemcpyHostToDevice:
        *node = node_of(GraphNodeKind::copy_to_device, host_request(copy));
        break;
      case cudaMemcpyDeviceToHost:
        *node = node_of(GraphNodeKind::copy_from_device, host_request(copy));
        break;
      case cudaMemcpyDeviceToDevice:
        *node = node_of(GraphNodeKind::copy_on_device, device_request(copy));
        break;
      default:
        node->kind = GraphNodeKind::host;
    }
    return cudaSuccess;
  }
  int operator()(const Fill& fill) const {
    if (!is_empty(fill)) *node = node_of(GraphNodeKind::fill, fill_request(fill));
    return cudaSuccess;
  }
  int operator()(const EventRecordWork& work) const {
    *node = node_of(GraphNodeKind::event_record, address_of(work.event));
    return cudaSuccess;
  }
  int operator()(const EventWaitWork& work) const {
    *node = node_of(GraphNodeKind::event_wait, address_of(work.event));
    return cudaSuccess;
  }
  int operator()(const HostWork& /*work*/) const {
    node->kind = GraphNodeKind::host;
    return cudaSuccess;
  }
};

int encode(const Work& work, DeviceNode* node) {
  *node = {};
  return std::visit(Encoder{node}, work);
}

int append_to(wire::Writer& writer, const GraphExec::Item& item) {
  DeviceNode node;
  if (const int error = encode(item.work, &node); error != 0) return error;
  writer.put(protocol::GraphNodeHeader{
      .kind = node.kind,
      .dependencies = static_cast<std::uint32_t>(item.dependencies.size()),
      .bytes = static_cast<std::uint32_t>(node.request.size())});
  for (const std::uint32_t dependency : item.dependencies) writer.put(dependency);
  writer.append(node.request);
  return cudaSuccess;
}

/// Sends the nodes, as many in a message as fit.
int send(const Items& items, std::size_t* reached) {
  Client& client = Client::instance();
  Reply reply = client.ask(GuestOperation::graph_begin);
  wire::Writer message;
  for (*reached = 0; reply.ok() && *reached < items.size(); ++*reached) {
    wire::Writer node;
    if (const int error = append_to(node, items[*reached]); error != 0) return error;
    if (node.bytes().size() > protocol::kChunkBytes) return cudaErrorMemoryAllocation;
    if (message.bytes().size() + node.bytes().size() > protocol::kChunkBytes) {
      reply = client.call(GuestOperation::graph_nodes, message.bytes());
      message = {};
    }
    message.append(node.bytes());
  }
  if (reply.ok()) reply = client.call(GuestOperation::graph_nodes, message.bytes());
  return reply.error;
}

/// What the host does in a node of a launch.
int do_host_work(const Work& work) {
  if (const auto* host = std::get_if<HostWork>(&work)) {
    const HostFunctionScope scope;
    if (host->function != nullptr) host->function(host->data);
    return cudaSuccess;
  }
  const auto* copy = std::get_if<Copy>(&work);
  return copy == nullptr ? cudaErrorUnknown : copy_on_host(*copy);
}

cudaGraphExecUpdateResult difference(const GraphExec::Item& now, const GraphExec::Item& then) {
  if (now.work.index() != then.work.index()) return cudaGraphExecUpdateErrorNodeTypeChanged;
  if (now.dependencies != then.dependencies) return cudaGraphExecUpdateErrorTopologyChanged;
  return cudaGraphExecUpdateSuccess;
}

}  // namespace

int GraphExec::instantiate(const Graph& graph, unsigned long long flags, Node** culprit,
                           std::shared_ptr<GraphExec>* result) {
  auto exec = std::make_shared<GraphExec>();
  exec->flags_ = flags;
  if (!append(graph, {}, &exec->items_)) return cudaErrorInvalidValue;
  std::size_t reached = 0;
  if (const int error = send(exec->items_, &reached); error != 0) {
    const auto* node = reached < exec->items_.size() ? exec->items_[reached].node : nullptr;
    *culprit = const_cast<Node*>(node);
    return error;
  }
  const Reply reply = Client::instance().ask(GuestOperation::graph_end);
  if (!reply.ok()) return reply.error;
  exec->handle_ = reply.reader().get<std::uint64_t>();
  *result = std::move(exec);
  return cudaSuccess;
}

int GraphExec::launch(cudaStream_t stream) const {
  Client& client = Client::instance();
  const std::lock_guard one_at_a_time(client.graph_launches());
  std::unique_lock transfer(client.transfers());
  Reply reply = client.ask(GuestOperation::graph_launch, handle_, stream_number(stream));
  while (reply.ok()) {
    const auto progress = reply.reader().get<protocol::GraphProgress>();
    if (progress.waits_for == GraphNodeKind::empty) return cudaSuccess;
    if (progress.node >= items_.size()) return cudaErrorUnknown;
    const Work& work = items_[progress.node].work;
    int error = cudaSuccess;
    client.release_results();  // a node of the host comes behind the kernels before it
    if (progress.waits_for == GraphNodeKind::host) {
      transfer.unlock();  // the function may wait for a thread that copies
      error = do_host_work(work);
      transfer.lock();
    } else {
      const auto& copy = std::get<Copy>(work);
      const bool to_device = progress.waits_for == GraphNodeKind::copy_to_device;
      error = to_device ? send_rest(copy) : receive_rest(copy);
    }
    if (error != cudaSuccess) return error;
    reply = client.ask(GuestOperation::graph_continue);
  }
  return reply.error;
}

int GraphExec::upload(cudaStream_t stream) const {
  return Client::instance().ask(GuestOperation::graph_upload, handle_, stream_number(stream)).error;
}

int GraphExec::destroy() {
  return Client::instance().ask(GuestOperation::graph_destroy, handle_).error;
}

int GraphExec::send_work(std::size_t index, Work work) {
  DeviceNode now, then;
  if (const int error = encode(items_[index].work, &now); error != 0) return error;
  if (const int error = encode(work, &then); error != 0) return error;
  if (now.kind != then.kind) return cudaErrorInvalidValue;
  if (now.request != then.request) {
    wire::Writer writer;
    writer.put(handle_);
    writer.put(static_cast<std::uint64_t>(index));
    writer.append(then.request);
    const Reply reply = Client::instance().call(GuestOperation::graph_set_node, writer.bytes());
    if (!reply.ok()) return reply.error;
  }
  items_[index].work = std::move(work);
  return cudaSuccess;
}

int GraphExec::set_work(const Node& node, Work work) {
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].id != node.id) continue;
    return items_[i].work.index() == work.index() ? send_work(i, std::move(work))
                                                  : cudaErrorInvalidValue;
  }
  return cudaErrorInvalidValue;
}

int GraphExec::update(const Graph& graph, cudaGraphExecUpdateResultInfo* result) {
  Items others;
  *result = {.result = cudaGraphExecUpdateErrorTopologyChanged,
             .errorNode = nullptr,
             .errorFromNode = nullptr};
  const Reply reply = Client::instance().ask(GuestOperation::graph_update, handle_);
  if (!reply.ok()) return reply.error;
  if (!append(graph, {}, &others)) return cudaErrorGraphExecUpdateFailure;
  const auto fail = [&](const Item& item, cudaGraphExecUpdateResult why) {
    result->result = why;
    result->errorNode = handle_of(const_cast<Node*>(item.node));
    return cudaErrorGraphExecUpdateFailure;
  };
  for (std::size_t i = 0; i < std::min(items_.size(), others.size()); ++i) {
    const auto why = difference(items_[i], others[i]);
    if (why != cudaGraphExecUpdateSuccess) return fail(others[i], why);
  }
  if (items_.size() != others.size()) return cudaErrorGraphExecUpdateFailure;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const int error = send_work(i, others[i].work);
    if (error == cudaErrorInvalidValue) {
      return fail(others[i], cudaGraphExecUpdateErrorParametersChanged);
    }
    if (error != 0) {
      fail(others[i], cudaGraphExecUpdateError);
      return error;
    }
  }
  result->result = cudaGraphExecUpdateSuccess;
  return cudaSuccess;
}

cudaGraphExec_t ExecTable::keep(std::shared_ptr<GraphExec> exec) {
  auto* handle = reinterpret_cast<cudaGraphExec_t>(exec.get());
  execs_[handle] = std::move(exec);
  return handle;
}

std::shared_ptr<GraphExec> ExecTable::find(cudaGraphExec_t exec) const {
  const auto found = execs_.find(exec);
  return found == execs_.end() ? nullptr : found->second;
}

}  // namespace simgpu::runtime

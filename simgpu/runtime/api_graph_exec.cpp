#include <string>

#include "simgpu/runtime/api_graph.h"
#include "simgpu/runtime/capture.h"
#include "simgpu/runtime/graph_exec.h"
#include "simgpu/runtime/graph_params.h"

/// Executable graphs: making, launching and changing them.
namespace simgpu::runtime {
namespace {

/// Runs the body with what is behind a handle, under the lock of all graphs.
template <typename Body>
cudaError_t on_exec(cudaGraphExec_t handle, Body body) noexcept {
  return api([&] {
    const auto lock = Context::get<GraphTable>().lock();
    const std::shared_ptr<GraphExec> exec = Context::get<ExecTable>().find(handle);
    return exec == nullptr ? static_cast<int>(cudaErrorInvalidValue)
                           : static_cast<int>(body(*exec));
  });
}

int instantiate(cudaGraphExec_t* handle, const Graph& graph, unsigned long long flags,
                Node** culprit) {
  constexpr unsigned long long kKnown =
      cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload |
      cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUseNodePriority;
  if (handle == nullptr || (flags & ~kKnown) != 0) return cudaErrorInvalidValue;
  if ((flags & cudaGraphInstantiateFlagDeviceLaunch) != 0) {
    return refuse("cudaGraphInstantiate", "cudaGraphInstantiateFlagDeviceLaunch");
  }
  std::shared_ptr<GraphExec> exec;
  const int error = GraphExec::instantiate(graph, flags, culprit, &exec);
  if (error == 0) *handle = Context::get<ExecTable>().keep(std::move(exec));
  return error;
}

/// A node of the graph that the executable one was made from gets other work.
template <typename Describe>
cudaError_t set_work(cudaGraphExec_t handle, cudaGraphNode_t node, Describe describe) {
  return on_exec(handle, [&](GraphExec& exec) {
    const Node* known = Context::get<GraphTable>().find(node);
    Work work;
    const int error = known == nullptr ? static_cast<int>(cudaErrorInvalidValue) : describe(&work);
    return error == 0 ? exec.set_work(*known, std::move(work)) : error;
  });
}

int launch_exec(cudaGraphExec_t handle, cudaStream_t stream) {
  std::shared_ptr<GraphExec> exec;
  {
    const auto lock = Context::get<GraphTable>().lock();
    exec = Context::get<ExecTable>().find(handle);
    if (exec == nullptr) return cudaErrorInvalidValue;
    if (const int error = permit_stream(stream); error != 0) return error;
  }
  return exec->launch(stream);
}

}  // namespace
}  // namespace simgpu::runtime

namespace runtime = simgpu::runtime;
using runtime::api;
using runtime::Context;
using runtime::ExecTable;
using runtime::Graph;
using runtime::GraphExec;
using runtime::GraphTable;
using runtime::Node;
using runtime::on_exec;
using runtime::on_graph;
using runtime::per_thread;
using runtime::record;
using runtime::set_work;
using runtime::Work;
using runtime::work_of;

extern "C" {

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long flags) {
  return on_graph(graph, [&](const Graph& found) {
    Node* culprit = nullptr;
    return runtime::instantiate(exec, found, flags, &culprit);
  });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(exec, graph, flags);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* exec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* parameters) {
  if (parameters == nullptr) return record(cudaErrorInvalidValue);
  return on_graph(graph, [&](const Graph& found) {
    Node* culprit = nullptr;
    const int error = runtime::instantiate(exec, found, parameters->flags, &culprit);
    parameters->errNode_out = runtime::handle_of(culprit);
    parameters->result_out = error == 0 ? cudaGraphInstantiateSuccess : cudaGraphInstantiateError;
    return error;
  });
}

cudaError_t cudaGraphInstantiateWithParams_ptsz(cudaGraphExec_t* exec, cudaGraph_t graph,
                                                cudaGraphInstantiateParams* parameters) {
  return cudaGraphInstantiateWithParams(exec, graph, parameters);
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long* flags) {
  return on_exec(exec, [&](const GraphExec& found) {
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = found.flags();
    return cudaSuccess;
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return on_exec(exec, [&](GraphExec& found) {
    Context::get<ExecTable>().remove(exec);
    return found.destroy();
  });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  if (const int error = runtime::permit_stream(stream); error != 0) return record(error);
  return on_exec(exec, [&](const GraphExec& found) { return found.upload(stream); });
}

cudaError_t cudaGraphUpload_ptsz(cudaGraphExec_t exec, cudaStream_t stream) {
  return cudaGraphUpload(exec, per_thread(stream));
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return api([&] { return runtime::launch_exec(exec, stream); });
}

cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t exec, cudaStream_t stream) {
  return cudaGraphLaunch(exec, per_thread(stream));
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* result) {
  return on_exec(exec, [&](GraphExec& found) {
    const Graph* other = Context::get<GraphTable>().find(graph);
    if (other == nullptr) return static_cast<int>(cudaErrorInvalidValue);
    cudaGraphExecUpdateResultInfo info{};
    const int error = found.update(*other, &info);
    if (result != nullptr) *result = info;
    return error;
  });
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters) {
  return set_work(exec, node, [&](Work* work) {
    return work_of("cudaGraphExecKernelNodeSetParams", parameters, work);
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* parameters) {
  return set_work(exec, node, [&](Work* work) {
    return work_of("cudaGraphExecMemcpyNodeSetParams", parameters, work);
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node,
                                               void* destination, const void* source, size_t bytes,
                                               cudaMemcpyKind kind) {
  return set_work(exec, node, [&](Work* work) {
    return runtime::work_of_copy(destination, source, bytes, kind, work);
  });
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemsetParams* parameters) {
  return set_work(exec, node, [&](Work* work) { return work_of(parameters, work); });
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const cudaHostNodeParams* parameters) {
  return set_work(exec, node, [&](Work* work) { return work_of(parameters, work); });
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 cudaEvent_t event) {
  return set_work(exec, node, [&](Work* work) {
    *work = runtime::EventRecordWork{event};
    return 0;
  });
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                               cudaEvent_t event) {
  return set_work(exec, node, [&](Work* work) {
    *work = runtime::EventWaitWork{event};
    return 0;
  });
}

}  // extern "C"

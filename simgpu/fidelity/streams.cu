#include <functional>
#include <vector>

#include "topic.h"

/// Small programs on streams, each with one legal result.
namespace {

__global__ void add_slowly(int* x, int what) {
  for (int i = 0; i < 2000; ++i) asm volatile("nanosleep.u32 100;");
  *x = *x * 3 + what;
}
__global__ void add(int* x, int what) { *x = *x * 3 + what; }
__global__ void fill(int* x, int n, int what) {
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x))
    x[i] = what + i;
}
__managed__ int g_managed = 5;

void show(const char* what, long long value) { std::printf("streams %s -> %lld\n", what, value); }
void show_error(const char* what, cudaError_t error) {
  std::printf("streams %s -> %s\n", what, cudaGetErrorName(error));
}

int fetch(const int* d) {
  int x = -1;
  cudaMemcpy(&x, d, sizeof x, cudaMemcpyDeviceToHost);
  return x;
}

void legacy_order(int* x) {
  cudaStream_t a = nullptr, b = nullptr;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  cudaMemset(x, 0, 4);
  add_slowly<<<1, 1, 0, a>>>(x, 1);
  add<<<1, 1>>>(x, 2);
  add<<<1, 1, 0, b>>>(x, 3);
  cudaDeviceSynchronize();
  show("legacy_default_stream_orders_blocking_streams", fetch(x));
  cudaMemset(x, 0, 4);
  add_slowly<<<1, 1, 0, a>>>(x, 1);
  int host = -1;
  cudaMemcpy(&host, x, 4, cudaMemcpyDeviceToHost);
  show("copy_waits_for_blocking_streams", host);
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
}

void event_order(int* x) {
  cudaStream_t a = nullptr, b = nullptr;
  cudaEvent_t event = nullptr;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  cudaMemset(x, 0, 4);
  cudaDeviceSynchronize();
  add_slowly<<<1, 1, 0, a>>>(x, 1);
  cudaEventRecord(event, a);
  cudaStreamWaitEvent(b, event, 0);
  add<<<1, 1, 0, b>>>(x, 2);
  show_error("event_before_it_is_done_query", cudaEventQuery(event));
  show_error("stream_before_it_is_done_query", cudaStreamQuery(b));
  cudaStreamSynchronize(b);
  show("event_orders", fetch(x));
  show_error("event_query", cudaEventQuery(event));
  // An event stands for the work before its last record at the time of the wait.
  cudaEventRecord(event, a);
  cudaStreamWaitEvent(b, event, 0);
  cudaEventRecord(event, b);
  cudaDeviceSynchronize();
  show_error("recorded_twice", cudaEventQuery(event));
  cudaEvent_t never = nullptr;
  cudaEventCreate(&never);
  show_error("wait_for_event_never_recorded", cudaStreamWaitEvent(b, never, 0));
  add<<<1, 1, 0, b>>>(x, 5);
  cudaStreamSynchronize(b);
  show("after_event_never_recorded", fetch(x));
  float ms = -1;
  cudaEvent_t first = nullptr, second = nullptr;
  cudaEventCreate(&first);
  cudaEventCreate(&second);
  cudaEventRecord(first, a);
  add_slowly<<<1, 1, 0, a>>>(x, 1);
  cudaEventRecord(second, a);
  cudaEventSynchronize(second);
  show_error("elapsed", cudaEventElapsedTime(&ms, first, second));
  show("elapsed_is_positive", ms > 0);
  cudaEventElapsedTime(&ms, second, first);
  show("elapsed_backwards_is_negative", ms < 0);
}

std::vector<int> g_order;
void CUDART_CB note(void* what) {
  g_order.push_back(static_cast<int>(reinterpret_cast<std::intptr_t>(what)));
}

void host_functions(int* x) {
  cudaStream_t a = nullptr;
  cudaStreamCreate(&a);
  cudaMemset(x, 0, 4);
  for (std::intptr_t i = 1; i < 6; ++i) {
    add<<<1, 1, 0, a>>>(x, static_cast<int>(i));
    cudaLaunchHostFunc(a, note, reinterpret_cast<void*>(i));
  }
  cudaStreamSynchronize(a);
  long long order = 0;
  for (const int i : g_order) order = order * 10 + i;
  show("host_functions_in_order", order);
  show("host_functions_between_kernels", fetch(x));
  g_order.clear();
  const auto callback = [](cudaStream_t, cudaError_t error, void*) {
    g_order.push_back(static_cast<int>(error));
    int* p = nullptr;
    g_order.push_back(static_cast<int>(cudaMalloc(&p, 4)));
  };
  show_error("add_callback", cudaStreamAddCallback(a, callback, nullptr, 0));
  cudaStreamSynchronize(a);
  for (std::size_t i = 0; i < g_order.size(); ++i) show("callback_saw", g_order[i]);
}

void graph(int* x) {
  cudaStream_t s = nullptr;
  cudaGraph_t made = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaStreamCreate(&s);
  cudaMemset(x, 0, 64);
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  cudaMemsetAsync(x + 4, 1, 8, s);
  add<<<1, 1, 0, s>>>(x, 1);
  cudaMemcpyAsync(x + 1, x, 4, cudaMemcpyDeviceToDevice, s);
  add<<<1, 1, 0, s>>>(x + 4, 2);
  cudaStreamEndCapture(s, &made);
  show("capture_runs_nothing", fetch(x));
  show_error("instantiate", cudaGraphInstantiate(&exec, made, 0));
  for (int i = 0; i < 3; ++i) cudaGraphLaunch(exec, s);
  cudaStreamSynchronize(s);
  for (int i = 0; i < 6; ++i) show("graph_word", fetch(x + i));
  std::size_t nodes = 0, edges = 0;
  cudaGraphGetNodes(made, nullptr, &nodes);
  cudaGraphGetEdges(made, nullptr, nullptr, nullptr, &edges);
  show("graph_nodes", static_cast<long long>(nodes));
  show("graph_edges", static_cast<long long>(edges));
  // Arguments are those of the capture, and memory of the host is read at each launch.
  static int host = 100;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  cudaMemcpyAsync(x, &host, 4, cudaMemcpyHostToDevice, s);
  add<<<1, 1, 0, s>>>(x, 7);
  cudaStreamEndCapture(s, &made);
  cudaGraphInstantiate(&exec, made, 0);
  host = 200;
  cudaGraphLaunch(exec, s);
  cudaStreamSynchronize(s);
  show("graph_reads_the_host_at_launch", fetch(x));
}

void memory(int* x) {
  cudaStream_t s = nullptr;
  cudaStreamCreate(&s);
  int *a = nullptr, *b = nullptr;
  cudaMallocAsync(&a, 4096, s);
  fill<<<1, 32, 0, s>>>(a, 1024, 7);
  cudaMemcpyAsync(x, a + 5, 4, cudaMemcpyDeviceToDevice, s);
  cudaFreeAsync(a, s);
  cudaMallocAsync(&b, 4096, s);
  fill<<<1, 32, 0, s>>>(b, 1024, 9);
  cudaStreamSynchronize(s);
  show("malloc_async_reuses_what_the_stream_freed", a == b);
  show("malloc_async_copied", fetch(x));
  cudaFreeAsync(b, s);
  cudaStreamSynchronize(s);
  add<<<1, 1>>>(&g_managed, 1);
  cudaDeviceSynchronize();
  show("managed_variable", g_managed);
  g_managed = 9;
  add<<<1, 1>>>(&g_managed, 2);
  cudaDeviceSynchronize();
  show("managed_variable_again", g_managed);
  int* managed = nullptr;
  cudaMallocManaged(&managed, 4096);
  managed[3] = 11;
  fill<<<1, 32>>>(managed, 3, 70);
  cudaMemcpy(managed + 5, managed + 3, 4, cudaMemcpyDefault);
  cudaDeviceSynchronize();
  for (const int i : {0, 2, 3, 4, 5}) show("managed", managed[i]);
  int* pinned = nullptr;
  cudaMallocHost(&pinned, 64);
  pinned[0] = 4;
  add<<<1, 1>>>(pinned, 1);
  cudaDeviceSynchronize();
  show("kernel_writes_pinned", pinned[0]);
  // Pageable memory is read before an asynchronous copy returns.
  std::vector<int> pageable(16, 31);
  cudaMemcpyAsync(x, pageable.data(), 64, cudaMemcpyHostToDevice, s);
  pageable[0] = 32;
  cudaStreamSynchronize(s);
  show("pageable_is_read_at_once", fetch(x));
  char bytes[16] = {};
  cudaMemset(x, 0xab, 3);
  cudaMemcpy(bytes, x, 4, cudaMemcpyDeviceToHost);
  show("memset_byte_2", static_cast<unsigned char>(bytes[2]));
  show("memset_byte_3", static_cast<unsigned char>(bytes[3]));
  cudaMemset(x, 0x1ff, 4);
  show("memset_of_more_than_a_byte", fetch(x));
  cudaMemset2D(x, 16, 1, 5, 2);
  for (int i = 0; i < 7; ++i) show("memset_2d", fetch(x + i));
}

void streams() {
  int* x = nullptr;
  cudaMalloc(&x, 1024);
  cudaMemset(x, 0, 1024);
  legacy_order(x);
  event_order(x);
  host_functions(x);
  graph(x);
  memory(x);
  show_error("at_last", cudaDeviceSynchronize());
}
TOPIC("streams", streams);

}  // namespace

// What single instructions, launches and memory take, to hold the specifications of GPUs and the
// time model's tables against hardware:
//
//   instructions [--small] [--events] [--only TEXT] [TOPIC ...]
//
// prints lines of topic,item,value,unit. --small takes fewer repetitions and less memory, and
// times by events, not by the kernel's clock: on a simulated GPU that counts instructions.
#include <cstring>
#include <string>
#include <vector>

#include "instructions/bandwidth.cuh"
#include "instructions/host_calls.cuh"
#include "instructions/latency.cuh"
#include "instructions/measure.cuh"
#include "instructions/throughput.cuh"

namespace instructions {
namespace {

__global__ void fill_pointers(unsigned long long* wide, unsigned* narrow) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kPointerBytes / 8) wide[i] = reinterpret_cast<unsigned long long>(wide + i);
  if (i < kPointerBytes / 4) {
    narrow[i] = static_cast<unsigned>(reinterpret_cast<unsigned long long>(narrow + i));
  }
}

void prepare(Measure& m) {
  check(cudaMalloc(&m.operands.wide, kPointerBytes), "cudaMalloc");
  check(cudaMalloc(&m.operands.narrow, kPointerBytes), "cudaMalloc");
  check(cudaMalloc(&m.operands.sink, 4096), "cudaMalloc");
  fill_pointers<<<kPointerBytes / 4 / 256, 256>>>(m.operands.wide, m.operands.narrow);
  check(cudaDeviceSynchronize(), "fill");
}

/// The clock while it runs: long chains of multiply-adds on all SMs, by both clocks.
void clock(Measure& m) {
  m.print("clock", "cudaDevAttrClockRate", m.mhz, "MHz");
  int khz = 0;
  check(cudaDeviceGetAttribute(&khz, cudaDevAttrMemoryClockRate, 0), "clock");
  m.print("clock", "cudaDevAttrMemoryClockRate", khz / 1e3, "MHz");
  m.print("clock", "multiprocessors", m.sms, "SMs");
  if (m.by_events) return;
  const auto call = [&] { chain<Ffma, 64, 4><<<m.sms, 1024>>>(m.operands, 4000, m.cycles); };
  const double cycles = m.cycles_of(m.sms, call);
  m.print("clock", "SM clock in fma.f32", cycles / m.microseconds(call), "MHz");
}

struct Topic {
  const char* name;
  void (*run)(Measure&);
};

constexpr Topic kTopics[] = {{"clock", clock},           {"latency", latency}, {"chase", chase},
                             {"throughput", throughput}, {"atomics", atomics}, {"launch", launch},
                             {"bandwidth", bandwidth},   {"cache", cache}};

int run(int argc, char** argv) {
  bool small = false;
  bool events = false;
  const char* only = nullptr;
  std::vector<const Topic*> topics;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--small") {
      small = events = true;
    } else if (argument == "--events") {
      events = true;
    } else if (argument == "--only" && i + 1 < argc) {
      only = argv[++i];
    } else {
      const Topic* found = nullptr;
      for (const Topic& topic : kTopics) {
        if (argument == topic.name) found = &topic;
      }
      if (found == nullptr) {
        std::fprintf(stderr,
                     "usage: instructions [--small] [--events] [--only TEXT] [TOPIC ...]\n");
        return 2;
      }
      topics.push_back(found);
    }
  }
  if (topics.empty()) {
    for (const Topic& topic : kTopics) topics.push_back(&topic);
  }
  Measure m(small, events, only);
  prepare(m);
  std::printf("topic,item,value,unit\n");
  for (const Topic* topic : topics) topic->run(m);
  return 0;
}

}  // namespace
}  // namespace instructions

int main(int argc, char** argv) { return instructions::run(argc, argv); }

// The kernels that the time model is held against. On a simulated GPU `compare` runs them; on a
// real one `measure` writes what they take as data:
//
//   validate_kernels list                     kernels, families, sizes, what a time divides
//   validate_kernels run KERNEL SIZE ...      each once; prints how many launches each took
//   validate_kernels measure FILE [REPEATS]   times all of them with events, as TOML
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "cases.cuh"

namespace validate {
namespace {

int run(const std::vector<Case>& cases, int argc, char** argv) {
  for (int i = 2; i + 1 < argc; i += 2) {
    const auto found = std::find_if(cases.begin(), cases.end(),
                                    [&](const Case& known) { return known.name == argv[i]; });
    if (found == cases.end()) {
      std::fprintf(stderr, "validate_kernels: no kernel is called %s\n", argv[i]);
      return 2;
    }
    const long size = std::atol(argv[i + 1]);
    Bench bench;
    found->prepare(bench, size)();
    check(cudaDeviceSynchronize(), argv[i]);
    std::printf("%s %ld %d %s %s %.17g\n", argv[i], size, bench.launches, found->family,
                found->unit, found->work(static_cast<double>(size)));
  }
  return 0;
}

/// Cycles and nanoseconds of a while in which nothing is done.
__global__ void wait_a_while(long long* cycles, unsigned long long* nanoseconds) {
  constexpr unsigned long long kWhile = 200'000;
  const auto now = [] {
    unsigned long long time;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
    return time;
  };
  const unsigned long long start = now();
  const long long first = clock64();
  while (now() - start < kWhile) {
  }
  *cycles = clock64() - first;
  *nanoseconds = now() - start;
}

/// The clock of the SMs as it is just now, which may be lower than the highest one.
double sm_mhz_now() {
  struct Counts {
    long long cycles;
    unsigned long long nanoseconds;
  };
  Bench bench;
  auto* counts = reinterpret_cast<Counts*>(bench.allocate<char>(sizeof(Counts)));
  wait_a_while<<<1, 1>>>(&counts->cycles, &counts->nanoseconds);
  Counts counted{};
  check(cudaMemcpy(&counted, counts, sizeof counted, cudaMemcpyDeviceToHost), "clock");
  return 1e3 * static_cast<double>(counted.cycles) / static_cast<double>(counted.nanoseconds);
}

struct Timed {
  std::vector<double> times_us;  ///< of one call, each between two events of its own, sorted
  double sm_mhz = 0;             ///< right after them
};

Timed time(const Case& known, long size, int repeats) {
  Bench bench;
  bench.filled = true;
  const std::function<void()> call = known.prepare(bench, size);
  cudaEvent_t start, stop;
  check(cudaEventCreate(&start), "event");
  check(cudaEventCreate(&stop), "event");
  Timed timed;
  std::vector<double>& times = timed.times_us;
  for (int i = 0; i < repeats + 3; ++i) {
    check(cudaEventRecord(start), "event");
    call();
    check(cudaEventRecord(stop), "event");
    check(cudaEventSynchronize(stop), known.name.c_str());
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start, stop), "event");
    if (i >= 3) times.push_back(1e3 * milliseconds);  // the first few warm up
  }
  timed.sm_mhz = sm_mhz_now();
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  std::sort(times.begin(), times.end());
  return timed;
}

int measure(const std::vector<Case>& cases, const char* file, int repeats) {
  std::FILE* out = std::fopen(file, "w");
  if (out == nullptr) {
    std::perror(file);
    return 1;
  }
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0), "properties");
  int driver = 0;
  int sm_khz = 0;
  int memory_khz = 0;
  check(cudaDriverGetVersion(&driver), "driver");
  check(cudaDeviceGetAttribute(&sm_khz, cudaDevAttrClockRate, 0), "clock");
  check(cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, 0), "clock");
  const std::time_t now = std::time(nullptr);
  char date[16];
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  std::fprintf(out,
               "# Written by validate_kernels measure. gpu is a file of specs/gpus: fill it in.\n"
               "gpu = \"\"\n\n[source]\ntitle = \"validate_kernels\"\nseen = %s\n\n"
               "[machine]\nname = \"%s\"\ndriver_api = %d\nmost_sm_mhz = %d\nmemory_mhz = %d\n",
               date, device.name, driver, sm_khz / 1000, memory_khz / 1000);
  for (const Case& known : cases) {
    for (const long size : known.sizes) {
      const auto [times, sm_mhz] = time(known, size, repeats);
      const std::size_t count = times.size();
      std::fprintf(out,
                   "\n[[measurement]]\nkernel = \"%s\"\nsize = %ld\ntime_us = %.3f\n"
                   "spread_us = %.3f\nrepeats = %d\nsm_mhz = %.0f\n",
                   known.name.c_str(), size, times[count / 2],
                   (times[3 * count / 4] - times[count / 4]) / 2, repeats, sm_mhz);
    }
  }
  return std::fclose(out) == 0 ? 0 : 1;
}

int list(const std::vector<Case>& cases) {
  for (const Case& known : cases) {
    std::printf("%-10s %-24s %s ", known.family, known.name.c_str(), known.unit);
    for (const long size : known.sizes) std::printf(" %ld", size);
    std::printf("\n");
  }
  return 0;
}

}  // namespace
}  // namespace validate

int main(int argc, char** argv) {
  const std::vector<validate::Case> cases = validate::all_cases();
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "list") return validate::list(cases);
  if (command == "run" && argc % 2 == 0) return validate::run(cases, argc, argv);
  if (command == "measure" && argc >= 3) {
    const int repeats = argc > 3 ? std::atoi(argv[3]) : 50;
    if (repeats > 0) return validate::measure(cases, argv[2], repeats);
  }
  std::fprintf(stderr,
               "usage: validate_kernels list | run KERNEL SIZE ... | measure FILE [REPEATS]\n");
  return 2;
}

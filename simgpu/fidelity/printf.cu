#include <cmath>
#include <cstdio>

#include "ops.cuh"

/// What printf of a kernel prints: lines of the kernel itself, and what printf returned.
namespace {

// What is wrong with a format is what this is about.
#pragma nv_diag_suppress 181, 224, 225, 226

struct Item {
  std::string call;
  bool is_wrong;
  void (*launch)(int* returned);
};

std::vector<Item>& items() {
  static std::vector<Item> all;
  return all;
}

bool add_item(const char* call, bool is_wrong, void (*launch)(int*)) {
  items().push_back({call, is_wrong, launch});
  return true;
}

template <class F>
__global__ void print(int* returned) {
  *returned = F::of(*returned);
}

// PRINT(format and arguments): `n` is 42, unknown to the compiler. WRONG is for what has no
// meaning, and might end the program.
#define PRINT_AS(is_wrong, format, ...)                         \
  struct FIDELITY_LINE(Item) {                                  \
    static __device__ int of([[maybe_unused]] int n) {          \
      return printf(format "|\n" __VA_OPT__(, ) __VA_ARGS__);   \
    }                                                           \
  };                                                            \
  const bool FIDELITY_LINE(added_) =                            \
      add_item(#format __VA_OPT__(", ") #__VA_ARGS__, is_wrong, \
               [](int* returned) { print<FIDELITY_LINE(Item)><<<1, 1>>>(returned); })
#define PRINT(...) PRINT_AS(false, __VA_ARGS__)
#define WRONG(...) PRINT_AS(true, __VA_ARGS__)

PRINT("plain");
PRINT("");
PRINT("%d", n);
PRINT("%d", -n * 100000);
PRINT("%i", n);
PRINT("%i", -n * 100000);
PRINT("%u", n);
PRINT("%u", -n * 100000);
PRINT("%x", n);
PRINT("%x", -n * 100000);
PRINT("%X", n);
PRINT("%X", -n * 100000);
PRINT("%o", n);
PRINT("%o", -n * 100000);
PRINT("%5d", n);
PRINT("%5d", -n * 100000);
PRINT("%-8d]", n);
PRINT("%-8d]", -n * 100000);
PRINT("%+d", n);
PRINT("%+d", -n * 100000);
PRINT("%05d", n);
PRINT("%05d", -n * 100000);
PRINT("% d", n);
PRINT("% d", -n * 100000);
PRINT("%#x", n);
PRINT("%#x", -n * 100000);
PRINT("%#o", n);
PRINT("%#o", -n * 100000);
PRINT("%.4d", n);
PRINT("%.4d", -n * 100000);
PRINT("%8.4d", n);
PRINT("%8.4d", -n * 100000);
PRINT("%c", n);
PRINT("%hd", n);
PRINT("%hd", -n * 100000);
PRINT("%hhd", n);
PRINT("%hhd", -n * 100000);
PRINT("%hu", n);
PRINT("%hu", -n * 100000);
PRINT("%hhx", n);
PRINT("%hhx", -n * 100000);
PRINT("%+05d", n);
PRINT("%+05d", -n * 100000);
PRINT("%-05d]", n);
PRINT("%-05d]", -n * 100000);
PRINT("%3d", n);
PRINT("%3d", -n * 100000);
PRINT("%1d", n);
PRINT("%1d", -n * 100000);
PRINT("%d %u %x", 0x80000000, 0xffffffff, 0x80000000);
PRINT("%ld", -5000000000L * n);
PRINT("%lld", -5000000000LL * n);
PRINT("%llu", ~0ULL / n);
PRINT("%llx", ~0ULL / n);
PRINT("%#llX", ~0ULL / n);
PRINT("%zu", sizeof(int) * n);
PRINT("%20lld]", 1LL << n);
PRINT("%lu", 1UL << n);
PRINT("%td", static_cast<std::ptrdiff_t>(n));
PRINT("%jd", static_cast<long long>(n));
PRINT("%hhd %hd", n + 256, n + 65536);
PRINT("%#x %#o", n - 42, n - 42);
PRINT("%f", n / 7.0);
PRINT("%f", -n * 1e10);
PRINT("%e", n / 7.0);
PRINT("%e", -n * 1e10);
PRINT("%g", n / 7.0);
PRINT("%g", -n * 1e10);
PRINT("%a", n / 7.0);
PRINT("%a", -n * 1e10);
PRINT("%F", n / 7.0);
PRINT("%F", -n * 1e10);
PRINT("%E", n / 7.0);
PRINT("%E", -n * 1e10);
PRINT("%G", n / 7.0);
PRINT("%G", -n * 1e10);
PRINT("%A", n / 7.0);
PRINT("%A", -n * 1e10);
PRINT("%.0f", n / 7.0);
PRINT("%.0f", -n * 1e10);
PRINT("%.3f", n / 7.0);
PRINT("%.3f", -n * 1e10);
PRINT("%5.2f", n / 7.0);
PRINT("%5.2f", -n * 1e10);
PRINT("%10.3e", n / 7.0);
PRINT("%10.3e", -n * 1e10);
PRINT("%-10.2f]", n / 7.0);
PRINT("%-10.2f]", -n * 1e10);
PRINT("%+f", n / 7.0);
PRINT("%+f", -n * 1e10);
PRINT("%010.3f", n / 7.0);
PRINT("%010.3f", -n * 1e10);
PRINT("%#.0f", n / 7.0);
PRINT("%#.0f", -n * 1e10);
PRINT("% f", n / 7.0);
PRINT("% f", -n * 1e10);
PRINT("%.15g", n / 7.0);
PRINT("%.15g", -n * 1e10);
PRINT("%.20f", n / 7.0);
PRINT("%.20f", -n * 1e10);
PRINT("%#g", n / 7.0);
PRINT("%#g", -n * 1e10);
PRINT("%.0e", n / 7.0);
PRINT("%.0e", -n * 1e10);
PRINT("%.1a", n / 7.0);
PRINT("%.1a", -n * 1e10);
PRINT("%f %e %g %a", INFINITY, INFINITY, INFINITY, INFINITY);
PRINT("%f %e %g %a", -INFINITY, -INFINITY, -INFINITY, -INFINITY);
PRINT("%f %e %g %a", NAN, NAN, NAN, NAN);
PRINT("%f %e %g %a", -0.0, -0.0, -0.0, -0.0);
PRINT("%f %e %g %a", 1e300 * n, 1e300 * n, 1e300 * n, 1e300 * n);
PRINT("%f %e %g %a", 5e-324, 5e-324, 5e-324, 5e-324);
PRINT("%f %e %g %a", 1.0F / n, 1.0F / n, 1.0F / n, 1.0F / n);
PRINT("%f %e %g %a", n * 1.0F, n * 1.0F, n * 1.0F, n * 1.0F);
PRINT("%f %e %g %a", 0.1F, 0.1F, 0.1F, 0.1F);
PRINT("%f %e %g %a", 123456789.0, 123456789.0, 123456789.0, 123456789.0);
PRINT("%f %e %g %a", 1e-5, 1e-5, 1e-5, 1e-5);
PRINT("%f %e %g %a", 999999.5, 999999.5, 999999.5, 999999.5);
PRINT("%f %e %g %a", 0.5, 0.5, 0.5, 0.5);
PRINT("%f %e %g %a", 1.5, 1.5, 1.5, 1.5);
PRINT("%f %e %g %a", 2.5, 2.5, 2.5, 2.5);
PRINT("%5f]%-5f]%05f", INFINITY, NAN, INFINITY);
PRINT("%s", "text");
PRINT("%10s]", "text");
PRINT("%-10s]", "text");
PRINT("%.2s]", "text");
PRINT("%s", "");
PRINT("%s", static_cast<const char*>(nullptr));
PRINT("%s and %d", n == 42 ? "yes" : "no", n);
PRINT("%p", reinterpret_cast<void*>(0x1234ULL));
PRINT("%p", static_cast<void*>(nullptr));
PRINT("%20p]", reinterpret_cast<void*>(0xabcULL));
PRINT("%%");
PRINT("%d%%", n);
PRINT("%*d", 8, n);
PRINT("%-*d]", 8, n);
PRINT("%.*f", 2, n / 7.0);
PRINT("%*.*f", 9, 3, n / 7.0);
PRINT("%lf", n / 7.0);
PRINT("%c%c%c", 'a', '\0', 'b');
PRINT(
    "%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d "
    "%d",
    n + 0, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8, n + 9, n + 10, n + 11, n + 12,
    n + 13, n + 14, n + 15, n + 16, n + 17, n + 18, n + 19, n + 20, n + 21, n + 22, n + 23, n + 24,
    n + 25, n + 26, n + 27, n + 28, n + 29, n + 30, n + 31);
PRINT(
    "%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d "
    "%d %d",
    n + 0, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8, n + 9, n + 10, n + 11, n + 12,
    n + 13, n + 14, n + 15, n + 16, n + 17, n + 18, n + 19, n + 20, n + 21, n + 22, n + 23, n + 24,
    n + 25, n + 26, n + 27, n + 28, n + 29, n + 30, n + 31, n + 32);
PRINT(
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
    "xxxxxxxxxxxxxxxxxx");
PRINT(
    "%s",
    "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
    "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
    "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
    "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
    "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
    "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
    "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
    "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
    "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
    "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
    "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
    "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
    "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy");
PRINT("two\nlines %d", n);
PRINT("tab\t end");
PRINT("%d %s %f %c %lld", n, "mixed", n / 4.0, n, 1LL << n);
WRONG("%5%");
WRONG("%k", n);
WRONG("%y %d", n, n);
WRONG("%");
WRONG("100%");
WRONG("%d %d", n);
WRONG("%d", n, n + 1);
WRONG("%d");
WRONG("%s");
WRONG("%f");
WRONG("%d", n / 7.0);
WRONG("%f", n);
WRONG("%d", 5000000000LL);
WRONG("%lld", n);
WRONG("%n", n);
WRONG("%ls", "text");
WRONG("%lc", n);
WRONG("%Lf", n / 7.0);

__global__ void several() {
  for (int i = 0; i < 5; ++i) printf("printf several printed %d -> %d\n", i, i * i);
  printf("printf parts printed -> ");
  printf("one ");
  printf("two\n");
}

void run(bool wrong) {
  const char* topic = wrong ? "printf_wrong" : "printf";
  for (const Item& item : items()) {
    if (item.is_wrong != wrong) continue;
    const int n = 42;
    int* returned = nullptr;
    int result = 0;
    cudaMalloc(&returned, sizeof n);
    cudaMemcpy(returned, &n, sizeof n, cudaMemcpyHostToDevice);
    std::printf("%s %s printed -> ", topic, item.call.c_str());
    std::fflush(stdout);
    item.launch(returned);
    const cudaError_t launched = cudaGetLastError();
    const cudaError_t copied = cudaMemcpy(&result, returned, sizeof n, cudaMemcpyDeviceToHost);
    std::fflush(stdout);
    const cudaError_t error = launched != cudaSuccess ? launched : copied;
    if (error == cudaSuccess) {
      std::printf("%s %s returned -> %d\n", topic, item.call.c_str(), result);
      cudaFree(returned);
    } else {
      std::printf("\n%s %s returned -> %s\n", topic, item.call.c_str(),
                  fidelity::failure(error).c_str());
      cudaGetLastError();
      cudaDeviceReset();
    }
  }
}

void print_all() {
  run(false);
  std::fflush(stdout);
  several<<<1, 1>>>();
  const cudaError_t error = fidelity::settle();
  std::fflush(stdout);
  std::printf("printf several ended -> %s\n", fidelity::failure(error).c_str());
}
void print_wrong() { run(true); }
TOPIC("printf", print_all);
TOPIC("printf_wrong", print_wrong);

}  // namespace

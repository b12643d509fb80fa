#include <vector>

#include "check.h"

// Allocations, objects, 128-bit integers and stack memory in kernels.

class Shape {
 public:
  __device__ virtual ~Shape() {}
  __device__ virtual int area() const = 0;
};
class Square : public Shape {
 public:
  __device__ explicit Square(int side) : side_(side) {}
  __device__ int area() const override { return side_ * side_; }

 private:
  int side_;
};
class Strip : public Shape {
 public:
  __device__ explicit Strip(int n) : n_(n), parts_(new int[n + 1]) {
    for (int i = 0; i <= n; ++i) parts_[i] = i;
  }
  __device__ ~Strip() override { delete[] parts_; }
  __device__ int area() const override {
    int sum = 0;
    for (int i = 0; i <= n_; ++i) sum += parts_[i];
    return sum;
  }

 private:
  int n_;
  int* parts_;
};

__global__ void objects(int* out) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const Shape* shape = i % 2 == 0 ? static_cast<Shape*>(new Square(i)) : new Strip(i);
  out[i] = shape->area();
  delete shape;
}

__device__ int* kept;
__global__ void keep() {
  kept = static_cast<int*>(malloc(1000));
  kept[5] = 77;
}
__global__ void use_kept(int* out) {
  out[0] = kept[5];
  free(kept);
  out[1] = malloc(std::size_t{100} << 20) == nullptr;
}
__global__ void leak() {
  int* value = new int(static_cast<int>(threadIdx.x));
  if (*value > 100) delete value;
}

__global__ void take_much(int* out) {
  void* much = malloc(std::size_t{100} << 20);
  out[0] = much != nullptr;
  free(much);
}

// The heap has the size that the program gives it, until a kernel has taken of it.
void sizes_the_heap() {
  CHECK(cudaDeviceReset());
  std::size_t bytes = 0;
  CHECK(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
  EXPECT(bytes == std::size_t{8} << 20);
  CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, std::size_t{128} << 20));
  CHECK(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
  EXPECT(bytes == std::size_t{128} << 20);
  EXPECT_ERROR(cudaDeviceSetLimit(cudaLimitMallocHeapSize, std::size_t{1} << 50),
               cudaErrorMemoryAllocation);
  int *room, given = 0;
  CHECK(cudaMalloc(&room, sizeof *room));
  take_much<<<1, 1>>>(room);
  CHECK(cudaMemcpy(&given, room, sizeof given, cudaMemcpyDeviceToHost));
  EXPECT(given == 1);
  EXPECT_ERROR(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 4096), cudaErrorInvalidValue);
  CHECK(cudaFree(room));
}

__global__ void on_the_stack(int* out, int n) {
  int* values = static_cast<int*>(alloca(n * sizeof(int)));
  for (int i = 0; i < n; ++i) values[i] = i * static_cast<int>(threadIdx.x);
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += values[n - 1 - i];
  out[threadIdx.x] = sum;
}

__extension__ using Wide = unsigned __int128;
struct Parts {
  unsigned long long low, high;
};
__host__ __device__ Wide divided(Wide a, Wide b, int step) {
  const Wide product = a * b + step;
  return step % 2 == 0 ? product / (b | 1) : product % (b | 1);
}
__host__ __device__ Wide operand(unsigned i) {
  const unsigned long long x = 0x9e3779b97f4a7c15ULL * (i + 1);
  return (static_cast<Wide>(x) << 64 | x * x) >> (i * 7 % 120);
}
__global__ void divides(Parts* out) {
  const Wide result = divided(operand(threadIdx.x), operand(threadIdx.x + 1000), threadIdx.x);
  out[threadIdx.x] = {static_cast<unsigned long long>(result),
                      static_cast<unsigned long long>(result >> 64)};
}

int main(int argc, char**) {
  if (argc > 1) {
    leak<<<1, 32>>>();
    CHECK(cudaDeviceSynchronize());
    return 0;
  }
  constexpr int kThreads = 64;
  int* room;
  CHECK(cudaMalloc(&room, kThreads * sizeof(Parts)));
  std::vector<int> out(kThreads);
  const auto take = [&] {
    CHECK(cudaMemcpy(out.data(), room, kThreads * sizeof(int), cudaMemcpyDeviceToHost));
  };
  objects<<<2, kThreads / 2>>>(room);
  take();
  for (int i = 0; i < kThreads; ++i) EXPECT(out[i] == (i % 2 == 0 ? i * i : i * (i + 1) / 2));
  keep<<<1, 1>>>();
  use_kept<<<1, 1>>>(room);
  take();
  EXPECT(out[0] == 77 && out[1] == 1);
  on_the_stack<<<1, kThreads>>>(room, 10);
  take();
  for (int i = 0; i < kThreads; ++i) EXPECT(out[i] == 45 * i);
  auto* wide = reinterpret_cast<Parts*>(room);
  divides<<<1, kThreads>>>(wide);
  std::vector<Parts> parts(kThreads);
  CHECK(cudaMemcpy(parts.data(), wide, kThreads * sizeof(Parts), cudaMemcpyDeviceToHost));
  for (unsigned i = 0; i < kThreads; ++i) {
    const Wide result = divided(operand(i), operand(i + 1000), static_cast<int>(i));
    EXPECT(parts[i].low == static_cast<unsigned long long>(result));
    EXPECT(parts[i].high == static_cast<unsigned long long>(result >> 64));
  }
  CHECK(cudaFree(room));
  sizes_the_heap();
  std::puts("device code is right");
}

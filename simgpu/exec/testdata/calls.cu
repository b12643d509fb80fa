/// Kernels whose device functions call themselves, or are called through their address.
#include <cstdio>

#define KERNEL extern "C" __global__ void

// Recursion.

__device__ unsigned weigh(unsigned n) { return n == 0 ? 1 : weigh(n - 1) * 3 + (weigh(n / 2) ^ n); }

KERNEL recurse(unsigned* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned depth = i % 11;
  out[i] = weigh(depth) + i * depth;
}

__device__ void quicksort(int* values, int low, int high) {
  if (low >= high) return;
  const int pivot = values[(low + high) / 2];
  int i = low, j = high;
  while (i <= j) {
    while (values[i] < pivot) ++i;
    while (values[j] > pivot) --j;
    if (i <= j) {
      const int other = values[i];
      values[i++] = values[j];
      values[j--] = other;
    }
  }
  quicksort(values, low, j);
  quicksort(values, i, high);
}

KERNEL sort_rows(int* values, int length) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  quicksort(values + row * length, 0, length - 1 - row % 3);
}

__device__ int odd_steps(int n, int sum);
__device__ __noinline__ int even_steps(int n, int sum) {
  return n == 0 ? sum : odd_steps(n - 1, sum * 2) + 1;
}
__device__ __noinline__ int odd_steps(int n, int sum) {
  return n == 0 ? -sum : even_steps(n - 1, sum + 3) - 5;
}

KERNEL take_turns(int* out) {
  const int i = threadIdx.x;
  out[i] = even_steps(i % 9, i);
}

/// The array of each activation is its own, and is read after the inner one has written to its.
__device__ int nested_arrays(int n, const int* above) {
  int own[5];
  for (int i = 0; i < 5; ++i) own[i] = n * i + (above == nullptr ? 1 : above[(n + i) % 5]);
  if (n > 0) own[n % 5] += nested_arrays(n - 1, own);
  int sum = 0;
  for (int i = 0; i < 5; ++i) sum = sum * 3 + own[(i + n) % 5];
  return sum;
}

KERNEL arrays_of_activations(int* out) {
  const int i = threadIdx.x;
  out[i] = nested_arrays(i % 7, nullptr);
}

/// A frame that an earlier call has written to is uninitialised again.
__device__ int read_unwritten(int n, int at, bool write) {
  int own[4];
  if (write) {
    for (int i = 0; i < 4; ++i) own[i] = n + i;
  }
  const int below = n > 0 ? read_unwritten(n - 1, at, write) : 0;
  return own[at & 3] + below;
}

KERNEL stale_frames(int* out, int at, int write_second) {
  const int first = read_unwritten(2, at, true);
  out[threadIdx.x] = first + read_unwritten(2, at, write_second != 0);
}

__device__ int endless(int n) { return n == -1 ? 0 : endless(n + 1) * 2 + n; }

KERNEL overflow(int* out, int from) { out[threadIdx.x] = endless(from - (threadIdx.x == 7)); }

__device__ int leave_early(int n, int limit) {
  if (n == limit) asm volatile("exit;");
  return n > 40 ? n : leave_early(n + 8, limit) + 1;
}

/// Lanes that exit in a call store nothing; the others come back together.
KERNEL exit_in_a_call(int* out) {
  const int i = threadIdx.x;
  if (i < 24) {
    const int value = leave_early(i % 8, i % 3 == 0 ? i % 8 + 16 : -1);
    out[i] = value * 100 + __popc(__activemask());
  } else {
    out[i] = -i;
  }
}

__device__ int sum_with_barriers(int n, int* shared) {
  __syncthreads();
  shared[threadIdx.x] += shared[(threadIdx.x + n) % blockDim.x] * 0 + n;
  __syncthreads();
  return n == 0 ? shared[threadIdx.x] : sum_with_barriers(n - 1, shared) + n;
}

KERNEL barriers_in_calls(int* out) {
  __shared__ int shared[96];
  shared[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = sum_with_barriers(5, shared);
}

__device__ int half_waits(int n) {
  if (n == 0) {
    __syncthreads();
    return 0;
  }
  return half_waits(n - 1) * 2 + 1;
}

KERNEL barrier_in_half_the_calls(int* out) {
  out[threadIdx.x] = threadIdx.x < 16 ? half_waits(3) : 0;
}

__device__ int print_down(int n) {
  printf("%d of lane %d\n", n, threadIdx.x);
  return n == 0 ? 0 : print_down(n - 1) + n;
}

KERNEL print_in_calls(int* out) { out[threadIdx.x] = print_down(threadIdx.x % 3); }

// Function pointers.

using Operation = int (*)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int multiply(int a, int b) { return a * b; }
__device__ int subtract(int a, int b) { return a - b; }
__device__ int count_up(int a, int b) {
  int sum = 0;
  for (int i = 0; i < (a & 7); ++i) sum += b ^ i;
  return sum;
}
__device__ float not_an_operation(float a) { return a; }

__device__ Operation operations[] = {add, multiply, subtract, count_up};
__constant__ Operation backwards[] = {count_up, subtract, multiply, add};
__device__ Operation one_operation = multiply;
__device__ float (*other)(float) = not_an_operation;

KERNEL tables(int* out, const int* which) {
  const int i = threadIdx.x;
  const int value = operations[which[i] & 3](i, 5);
  out[i] = value * 10 + backwards[which[i] & 3](value, i) + __popc(__activemask());
}

KERNEL given_pointer(int* out, Operation operation) {
  const int i = threadIdx.x;
  out[i] = i % 3 == 0 ? operation(i, 7) : -1;
}

__device__ int apply(Operation operation, int n) {
  return n == 0 ? 1 : operation(n, apply(operation, n - 1));
}

KERNEL chosen_pointers(int* out) {
  const int i = threadIdx.x;
  const Operation operation = i % 4 == 0   ? add
                              : i % 4 == 1 ? multiply
                              : i % 4 == 2 ? subtract
                                           : count_up;
  out[i] = apply(operation, i % 6);
}

// Virtual functions.

class Shape {
 public:
  __device__ virtual int area(int scale) const = 0;
  __device__ virtual int depth() const { return 1; }
};
class Square : public Shape {
 public:
  __device__ explicit Square(int side) : side_(side) {}
  __device__ int area(int scale) const override { return side_ * side_ * scale; }

 private:
  int side_;
};
class Pair : public Shape {
 public:
  __device__ Pair(const Shape* a, const Shape* b) : a_(a), b_(b) {}
  __device__ int area(int scale) const override { return a_->area(scale) + b_->area(scale + 1); }
  __device__ int depth() const override { return 1 + max(a_->depth(), b_->depth()); }

 private:
  const Shape* a_;
  const Shape* b_;
};

KERNEL shapes(int* out) {
  const int i = threadIdx.x;
  const Square small(i), large(i + 2);
  const Pair pair(&small, &large);
  const Pair outer(&pair, &small);
  const Shape* all[] = {&small, &large, &pair, &outer};
  const Shape* mine = all[i % 4];
  out[i] = mine->area(3) * 10 + mine->depth();
}

class Owner {
 public:
  __device__ virtual ~Owner() {}
  __device__ virtual int twice(int value) const { return 2 * value; }
  __device__ virtual int missing() const {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    return 0;
  }
};
class Tripler : public Owner {
 public:
  __device__ int twice(int value) const override { return 3 * value; }
};

/// What stands in the table of virtual functions is there whether anything calls it or not.
KERNEL call_missing(int* out, int calls) {
  Owner owner;
  Tripler tripler;
  Owner* mine = threadIdx.x % 2 == 0 ? &owner : &tripler;
  out[threadIdx.x] = mine->twice(threadIdx.x % 2 == 0 ? 6 : 4);
  if (calls != 0) out[threadIdx.x] += mine->missing();
}

/// Lanes of a warp that wait for each other: locks, flags and tickets of single threads.
#define KERNEL extern "C" __global__ void

/// Each thread takes the lock and adds one to what it guards.
KERNEL lock_each_thread(int* lock, int* out) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *reinterpret_cast<volatile int*>(out) += 1;
  __threadfence();
  atomicExch(lock, 0);
}

/// The body of the loop holds what the lock guards.
KERNEL lock_in_loop(int* lock, int* out) {
  bool done = false;
  do {
    if (atomicExch(lock, 1) == 0) {
      __threadfence();
      *reinterpret_cast<volatile int*>(out) += 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  } while (!done);
}

KERNEL lock_in_shared(int* out) {
  __shared__ int lock;
  __shared__ int sum;
  if (threadIdx.x == 0) lock = sum = 0;
  __syncthreads();
  while (atomicCAS(&lock, 0, 1) != 0) {
  }
  __threadfence_block();
  *const_cast<volatile int*>(&sum) += static_cast<int>(threadIdx.x) + 1;
  __threadfence_block();
  atomicExch(&lock, 0);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

/// Tries are counted, so that no state of the block comes again.
KERNEL lock_counting_tries(int* lock, int* out, int* tries) {
  int own = 1;
  while (atomicCAS(lock, 0, 1) != 0) ++own;
  __threadfence();
  *reinterpret_cast<volatile int*>(out) += 1;
  __threadfence();
  atomicExch(lock, 0);
  tries[threadIdx.x] = own;
}

/// Threads come in order of their tickets, last one first.
KERNEL tickets(volatile int* turn, int* out) {
  const int mine = static_cast<int>(blockDim.x - 1 - threadIdx.x);
  while (*turn != mine) {
  }
  out[mine] = static_cast<int>(threadIdx.x);
  __threadfence();
  *turn = mine + 1;
}

/// Lane 5 polls until lane 20 says so, lane 20 until lane 5 has answered; then all exchange.
KERNEL question_and_answer(volatile int* flags, int* out) {
  const unsigned lane = threadIdx.x;
  if (lane == 5) {
    while (flags[0] == 0) {
    }
    flags[1] = flags[0] + 1;
  } else if (lane == 20) {
    flags[0] = 7;
    while (flags[1] == 0) {
    }
    flags[2] = flags[1] + 1;
  }
  __syncwarp();
  const int seen = flags[2];
  out[lane] = seen * 100 + __shfl_xor_sync(0xFFFFFFFFU, static_cast<int>(lane), 1);
}

/// A lock within two levels of divergence; then the lanes of each level, and all, do something
/// together.
KERNEL nested(int* lock, int* out) {
  const unsigned lane = threadIdx.x;
  int sum = 0;
  if (lane < 24) {
    if (lane % 2 == 0) {
      while (atomicCAS(lock, 0, 1) != 0) {
      }
      __threadfence();
      *reinterpret_cast<volatile int*>(&out[64]) += 1;
      __threadfence();
      atomicExch(lock, 0);
      sum = __reduce_add_sync(0x00555555U, 1);
    }
    __syncwarp(0x00FFFFFFU);
    sum += __shfl_sync(0x00FFFFFFU, static_cast<int>(lane), 3);
  }
  __syncwarp();
  out[lane] = sum * 1000 + __popc(__ballot_sync(0xFFFFFFFFU, lane % 3 == 0));
  __syncthreads();
  out[32 + lane] = out[lane ^ 1];
}

/// As cuda::counting_semaphore polls: by several loads, and with an eye on the clock.
KERNEL polls_in_many_places(volatile int* turn, int* out) {
  const int mine = static_cast<int>(blockDim.x - 1 - threadIdx.x);
  while (*turn != mine) {
    for (int i = 0; i < 3; ++i) {
      if (*turn == mine) break;
      if (clock64() == 1) out[0] = -1;
      if (turn[0] == mine) break;
      __nanosleep(20);
    }
  }
  out[mine] = static_cast<int>(threadIdx.x);
  __threadfence();
  *turn = mine + 1;
}

/// Two locks, always taken in the same order, and again and again.
KERNEL two_locks(int* locks, int* out) {
  for (int round = 0; round < 3; ++round) {
    while (atomicCAS(&locks[0], 0, 1) != 0) {
    }
    while (atomicCAS(&locks[1], 0, 1) != 0) {
    }
    __threadfence();
    *reinterpret_cast<volatile int*>(out) += 1;
    __threadfence();
    atomicExch(&locks[1], 0);
    atomicExch(&locks[0], 0);
  }
}

/// Even lanes take the locks in one order, odd ones in the other.
KERNEL deadly_embrace(int* locks, int* out) {
  const int first = static_cast<int>(threadIdx.x & 1);
  while (atomicCAS(&locks[first], 0, 1) != 0) {
  }
  while (atomicCAS(&locks[1 - first], 0, 1) != 0) {
  }
  atomicAdd(out, 1);
  atomicExch(&locks[1 - first], 0);
  atomicExch(&locks[first], 0);
}

/// The lock is never given back.
KERNEL kept_lock(int* lock, int* out) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  atomicAdd(out, 1);
}

/// Who has the lock waits for all lanes, who want the lock.
KERNEL barrier_under_lock(int* lock, int* out) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __syncwarp();
  atomicAdd(out, 1);
  atomicExch(lock, 0);
}

/// A flag that lane 0 never sees set, polled beside lanes that wait at a barrier of the block.
KERNEL unset_flag(volatile int* flag) {
  if (threadIdx.x == 0) {
    while (*flag == 0) {
    }
  }
  __syncthreads();
}

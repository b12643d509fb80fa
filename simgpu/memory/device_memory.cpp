#include "simgpu/memory/device_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <new>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "simgpu/memory/pages.h"
#include "simgpu/memory/shadow.h"

namespace simgpu {
namespace {

constexpr std::uint64_t kShadowPageBytes = kPageBytes / 8;
/// cudaDeviceProp::textureAlignment: memory from cudaMalloc can be bound to a texture as it is.
constexpr std::uint64_t kAlignment = 512;
constexpr std::uint64_t kGapBytes = 256;
constexpr std::uint64_t kLargestArena = std::uint64_t{1} << 40;
constexpr std::uint64_t kSmallestArena = std::uint64_t{1} << 28;
/// Freed allocations that are remembered for messages; a program that allocates in a loop forgets
/// the oldest.
constexpr std::size_t kRememberedFreed = 65536;
/// Each is a mapping of its own, and a process may have 65530 of them (vm.max_map_count).
constexpr std::size_t kMostSharedBlocks = 16384;
/// Of a launch beside vast allocations, whose stores may touch more pages than the machine has:
/// 320 MiB.
constexpr std::size_t kMostUndonePages = 81'920;

/// Filling at least this much maps a pattern, which costs 1 MiB and a mapping for each; where that
/// would be too many mappings, the bytes are written.
constexpr std::uint64_t kFillByMapping = std::uint64_t{32} << 20;
constexpr std::uint64_t kFilledPattern = std::uint64_t{1} << 20;
/// A program that fills again and again gets no more of them than this.
constexpr std::uint64_t kMostFillMappings = 16384;

/// Zeroed memory of exactly `bytes` for as long as anyone has it mapped, or nothing.
Descriptor sealed_memory(std::uint64_t bytes) {
  Descriptor memory(memfd_create("simgpu-shared", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory || ftruncate(memory.get(), static_cast<off_t>(bytes)) != 0 ||
      fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return {};
  }
  return memory;
}

/// Bytes of the arena that nothing else may use.
std::uint64_t occupied_bytes(const Allocation& allocation) {
  const bool is_mapped = allocation.sharing != Sharing::none || allocation.repeats;
  const std::uint64_t unit = is_mapped ? kLargestPage : kAlignment;
  return round_up(std::max<std::uint64_t>(allocation.bytes, 1), unit);
}

/// Addresses of the first whole page in a range, and of what follows the last one.
std::pair<std::uint64_t, std::uint64_t> whole_pages(std::uint64_t address, std::uint64_t bytes) {
  return {round_up(address, page_bytes()), (address + bytes) / page_bytes() * page_bytes()};
}

using Allocations = std::map<std::uint64_t, Allocation>;

/// Whether a live allocation has bytes in [first, last).
bool holds_live(const Allocations& allocations, std::uint64_t first, std::uint64_t last) {
  for (auto at = allocations.lower_bound(last); at != allocations.begin();) {
    --at;
    const Allocation& allocation = at->second;
    // They do not overlap: the first that ends before the range has nothing but such before it.
    if (allocation.base + std::max<std::uint64_t>(allocation.bytes, 1) <= first) return false;
    if (allocation.live) return true;
  }
  return false;
}

/// Gives back the pages in which a freed allocation lay and nothing lives any more. Its addresses
/// are not used again, so that otherwise small allocations, made and freed in a loop, would fill
/// the machine with zeros.
/// @param unit bytes of device memory that one page is for: the page itself, or what its bits tell
/// of
void give_back(const Allocations& allocations, const Allocation& freed, std::byte* begin,
               std::uint64_t unit) {
  const std::uint64_t offset = freed.base - kDeviceBase;
  const auto is_free = [&](std::uint64_t page) {
    return !holds_live(allocations, kDeviceBase + page * unit, kDeviceBase + (page + 1) * unit);
  };
  std::uint64_t first = offset / unit;
  std::uint64_t last = (offset + std::max<std::uint64_t>(freed.bytes, 1) - 1) / unit;
  // Only at its ends it shares a page with others.
  if (!is_free(first)) ++first;
  if (last > first && !is_free(last)) --last;
  if (first > last || !is_free(last)) return;
  madvise(begin + first * page_bytes(), (last - first + 1) * page_bytes(), MADV_DONTNEED);
}

bool all_zero(const std::byte* begin, std::uint64_t bytes) {
  return begin[0] == std::byte{0} && std::memcmp(begin, begin + 1, bytes - 1) == 0;
}

}  // namespace

/// What the pages looked like before the launch. A page's state byte is read without the lock, so
/// that a store to a saved page costs one load.
struct DeviceMemory::Undo {
  struct Page {
    std::uint64_t index = 0;
    std::unique_ptr<std::byte[]> bytes;  ///< nullptr when the page was all zero
    std::array<std::uint8_t, kShadowPageBytes> shadow{};
  };

  explicit Undo(std::uint64_t arena_bytes) : page_count(arena_bytes / kPageBytes) {
    saved = static_cast<std::uint8_t*>(reserve(page_count));
    if (saved == nullptr) throw std::bad_alloc();
  }
  ~Undo() { munmap(saved, page_count); }
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;

  void forget() {
    for (const Page& page : pages) saved[page.index] = 0;
    pages.clear();
    active = is_full = false;
  }

  bool active = false;
  std::size_t most_pages = ~std::size_t{0};
  std::uint64_t page_count;
  /// One byte per page, lazily mapped: 1 when the page is in `pages`.
  std::uint8_t* saved = nullptr;
  std::mutex mutex;
  std::deque<Page> pages;
  std::atomic<bool> is_full{false};
};

DeviceMemory::DeviceMemory(std::uint64_t capacity) : capacity_(capacity) {
  for (std::uint64_t bytes = kLargestArena; bytes >= kSmallestArena; bytes /= 2) {
    void* const arena = reserve(bytes);
    if (arena == nullptr) continue;
    void* const shadow = reserve(bytes / 8);
    if (shadow == nullptr) {
      munmap(arena, bytes);
      continue;
    }
    arena_ = static_cast<std::byte*>(arena);
    shadow_ = static_cast<std::uint8_t*>(shadow);
    arena_bytes_ = bytes;
    break;
  }
  if (arena_ == nullptr) {
    throw std::runtime_error(
        "cannot reserve 256 MiB of address space for the simulated GPU's memory; raise the limit "
        "on virtual memory (ulimit -v)");
  }
  // Huge pages would make each page a kernel touches cost 2 MiB of the machine.
  madvise(shadow_, arena_bytes_ / 8, MADV_NOHUGEPAGE);
  // Where the blocks of a kernel race, workers do here: why that is left so is in
  // docs/design/engine.md.
  expect_races(arena_, arena_bytes_);
  expect_races(shadow_, arena_bytes_ / 8);
  next_ = kDeviceBase + kPageBytes;
  undo_ = std::make_unique<Undo>(arena_bytes_);
}

DeviceMemory::~DeviceMemory() {
  munmap(arena_, arena_bytes_);
  munmap(shadow_, arena_bytes_ / 8);
}

std::optional<std::uint64_t> DeviceMemory::take_range(std::uint64_t bytes,
                                                      std::uint64_t alignment) {
  const std::uint64_t end = kDeviceBase + arena_bytes_;
  if (bytes > arena_bytes_) return std::nullopt;
  const std::uint64_t step = round_up(bytes, alignment) + kGapBytes;
  std::uint64_t base = round_up(next_, alignment);
  if (base > end || step > end - base) {
    // The address space is used up: only now freed ranges are reused, first fit, and forgotten.
    std::erase_if(allocations_, [](const auto& entry) { return !entry.second.live; });
    freed_.clear();
    base = kDeviceBase + kPageBytes;
    for (const auto& [other, allocation] : allocations_) {
      if (other >= base && other - base >= step) break;
      base = round_up(other + occupied_bytes(allocation) + kGapBytes, alignment);
    }
    if (base >= end || end - base < step) return std::nullopt;
  }
  next_ = std::max(next_, base + step);
  return base;
}

Allocation& DeviceMemory::add(Allocation allocation) {
  allocation.id = next_id_++;
  allocation.changed = ++changes_;
  if (allocation.sharing == Sharing::pinned) {
    pinned_ += allocation.bytes;
  } else {
    allocated_ += allocation.bytes;
    peak_allocated_ = std::max(peak_allocated_, allocated_);
  }
  return allocations_[allocation.base] = std::move(allocation);
}

std::optional<std::uint64_t> DeviceMemory::allocate(std::uint64_t bytes, std::string label,
                                                    bool read_only) {
  if (bytes > capacity_ - std::min(allocated_, capacity_)) return std::nullopt;
  const auto base = take_range(std::max<std::uint64_t>(bytes, 1), kAlignment);
  if (!base) return std::nullopt;
  add({.base = *base, .bytes = bytes, .label = std::move(label), .read_only = read_only});
  return base;
}

std::optional<SharedBlock> DeviceMemory::allocate_shared(std::uint64_t bytes, std::string label,
                                                         Sharing sharing) {
  const std::uint64_t taken = sharing == Sharing::pinned ? pinned_ : allocated_;
  if (bytes > capacity_ - std::min(taken, capacity_) || shared_blocks_ >= kMostSharedBlocks) {
    return std::nullopt;
  }
  const std::uint64_t mapped = round_up(std::max<std::uint64_t>(bytes, 1), kLargestPage);
  const auto base = take_range(mapped, kLargestPage);
  if (!base) return std::nullopt;
  Descriptor memory = sealed_memory(mapped);
  if (!memory || mmap(host(*base), mapped, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_FIXED | MAP_NORESERVE, memory.get(), 0) == MAP_FAILED) {
    return std::nullopt;
  }
  ++shared_blocks_;
  add({.base = *base, .bytes = bytes, .label = std::move(label), .sharing = sharing});
  mark_initialized(*base, bytes);
  return SharedBlock{.address = *base, .mapped_bytes = mapped, .memory = std::move(memory)};
}

std::optional<std::uint64_t> DeviceMemory::allocate_vast(std::uint64_t bytes, std::string label,
                                                         std::span<const std::byte> pattern) {
  const bool is_whole = pattern.size() % kPageBytes == 0;
  if (!is_whole || bytes > capacity_ - std::min(allocated_, capacity_)) return std::nullopt;
  const std::uint64_t mapped = round_up(std::max<std::uint64_t>(bytes, 1), kLargestPage);
  const auto base = take_range(mapped, kLargestPage);
  if (!base || (!pattern.empty() && !map_again_and_again(*base, mapped, pattern))) {
    return std::nullopt;
  }
  undo_->most_pages = kMostUndonePages;
  add({.base = *base,
       .bytes = bytes,
       .label = std::move(label),
       .repeats = !pattern.empty(),
       .is_vast = true});
  return base;
}

bool DeviceMemory::map_again_and_again(std::uint64_t base, std::uint64_t bytes,
                                       std::span<const std::byte> pattern) {
  // A file as long as a whole number of patterns and of this kernel's pages.
  const std::uint64_t mapped = std::lcm(pattern.size(), page_bytes());
  const Descriptor memory = sealed_memory(mapped);
  const auto length = static_cast<ssize_t>(pattern.size());
  if (!memory) return false;
  for (std::uint64_t at = 0; at < mapped; at += pattern.size()) {
    const ssize_t written =
        pwrite(memory.get(), pattern.data(), pattern.size(), static_cast<off_t>(at));
    if (written != length) return false;
  }
  for (std::uint64_t at = 0; at < bytes; at += mapped) {
    // Private: what a kernel stores stays in one place.
    if (mmap(host(base + at), std::min(mapped, bytes - at), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, memory.get(), 0) == MAP_FAILED) {
      return false;
    }
  }
  return true;
}

void DeviceMemory::forget_content(const Allocation& allocation) {
  mark_uninitialized(allocation.base, allocation.bytes);
  if (allocation.is_filled) {
    const auto [first, last] = whole_pages(allocation.base, allocation.bytes);
    map_anew(first, last - first);
  }
  if (allocation.sharing == Sharing::none && !allocation.repeats) {
    zero(host(allocation.base), allocation.bytes);
    return;
  }
  // Whoever mapped the block keeps it; what lies here is the arena's own again.
  map_anew(allocation.base, occupied_bytes(allocation));
  if (allocation.sharing != Sharing::none) --shared_blocks_;
}

/// Whole pages become the arena's own again, untouched and zero.
void DeviceMemory::map_anew(std::uint64_t address, std::uint64_t bytes) {
  if (mmap(host(address), bytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED) {
    throw std::runtime_error("cannot map memory of the simulated GPU anew");
  }
}

bool DeviceMemory::release(std::uint64_t address) {
  const auto found = allocations_.find(address);
  if (found == allocations_.end() || !found->second.live) return false;
  Allocation& allocation = found->second;
  forget_content(allocation);
  allocation.live = false;
  give_back(allocations_, allocation, arena_, page_bytes());
  give_back(allocations_, allocation, reinterpret_cast<std::byte*>(shadow_), 8 * page_bytes());
  (allocation.sharing == Sharing::pinned ? pinned_ : allocated_) -= allocation.bytes;
  freed_.push_back(address);
  if (freed_.size() > kRememberedFreed) {
    allocations_.erase(freed_.front());
    freed_.pop_front();
  }
  return true;
}

const Allocation* DeviceMemory::find(std::uint64_t address, std::uint64_t bytes) const {
  auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return nullptr;
  const Allocation& allocation = std::prev(after)->second;
  const std::uint64_t offset = address - allocation.base;
  const bool inside = offset <= allocation.bytes && bytes <= allocation.bytes - offset;
  return allocation.live && inside ? &allocation : nullptr;
}

const Allocation* DeviceMemory::nearest(std::uint64_t address) const {
  if (allocations_.empty()) return nullptr;
  const auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return &after->second;
  const Allocation& before = std::prev(after)->second;
  if (after == allocations_.end()) return &before;
  const std::uint64_t end = before.base + before.bytes;
  const std::uint64_t behind = address >= end ? address - end : 0;
  return behind <= after->first - address ? &before : &after->second;
}

bool DeviceMemory::write(std::uint64_t address, std::span<const std::byte> bytes) {
  if (find(address, bytes.size()) == nullptr) return false;
  if (bytes.empty()) return true;
  note_change(address);
  std::memcpy(host(address), bytes.data(), bytes.size());
  mark_initialized(address, bytes.size());
  return true;
}

bool DeviceMemory::read(std::uint64_t address, std::span<std::byte> bytes) const {
  if (find(address, bytes.size()) == nullptr) return false;
  if (!bytes.empty()) std::memcpy(bytes.data(), host(address), bytes.size());
  return true;
}

bool DeviceMemory::fill(std::uint64_t address, std::uint8_t value, std::uint64_t bytes) {
  const Allocation* const allocation = find(address, bytes);
  if (allocation == nullptr) return false;
  if (bytes == 0) return true;
  note_change(address);
  if (!fill_by_mapping(allocations_.at(allocation->base), address, value, bytes)) {
    // Unmapping does not zero what is mapped.
    const bool is_plain =
        allocation->sharing == Sharing::none && !allocation->repeats && !allocation->is_filled;
    if (value == 0 && is_plain) {
      zero(host(address), bytes);
    } else {
      std::memset(host(address), value, bytes);
    }
  }
  mark_initialized(address, bytes);
  return true;
}

/// Of a large array often a small part is used, as by a launch of which only some blocks run: a
/// fill costs no page that nobody touches. False where the bytes have to be written.
bool DeviceMemory::fill_by_mapping(Allocation& allocation, std::uint64_t address,
                                   std::uint8_t value, std::uint64_t bytes) {
  const bool is_own = allocation.sharing == Sharing::none && !allocation.repeats;
  const auto [first, last] = whole_pages(address, bytes);
  const std::uint64_t mappings = (last - first) / kFilledPattern + 1;
  const bool fits = mappings <= kMostFillMappings - fill_mappings_;
  if (!is_own || value == 0 || bytes < kFillByMapping || !fits) return false;
  fill_mappings_ += mappings;
  const std::vector<std::byte> pattern(kFilledPattern, std::byte{value});
  allocation.is_filled = true;
  if (!map_again_and_again(first, last - first, pattern)) return false;
  std::memset(host(address), value, first - address);
  std::memset(host(last), value, address + bytes - last);
  return true;
}

bool DeviceMemory::copy(std::uint64_t destination, std::uint64_t source, std::uint64_t bytes) {
  if (find(destination, bytes) == nullptr || find(source, bytes) == nullptr) return false;
  if (bytes == 0) return true;
  note_change(destination);
  std::memmove(host(destination), host(source), bytes);
  if (find(destination)->sharing == Sharing::none) copy_shadow(destination, source, bytes);
  return true;
}

/// Stretch by stretch of what is equally written; the ranges may overlap.
void DeviceMemory::copy_shadow(std::uint64_t destination, std::uint64_t source,
                               std::uint64_t bytes) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps;  // offset, bytes
  shadow::for_each_gap(
      shadow_, source - kDeviceBase, bytes,
      [&](std::uint64_t offset, std::uint64_t count) { gaps.emplace_back(offset, count); });
  mark_initialized(destination, bytes);
  for (const auto& [offset, count] : gaps) mark_uninitialized(destination + offset, count);
}

DeviceMemory::Unwritten DeviceMemory::unwritten(std::uint64_t address, std::uint64_t bytes) const {
  Unwritten found;
  shadow::for_each_gap(shadow_, address - kDeviceBase, bytes,
                       [&](std::uint64_t offset, std::uint64_t count) {
                         if (found.bytes == 0) found.first = address + offset;
                         found.bytes += count;
                         found.longest = std::max(found.longest, count);
                       });
  return found;
}

void DeviceMemory::mark_initialized(std::uint64_t address, std::uint64_t bytes) {
  shadow::set(shadow_, address - kDeviceBase, bytes);
}

void DeviceMemory::mark_uninitialized(std::uint64_t address, std::uint64_t bytes) {
  note_change(address);
  shadow::clear(shadow_, address - kDeviceBase, bytes);
}

bool DeviceMemory::is_initialized(std::uint64_t address, std::uint64_t bytes) const {
  return shadow::all_set(shadow_, address - kDeviceBase, bytes);
}

std::vector<Allocation> DeviceMemory::live_allocations() const {
  std::vector<Allocation> live;
  for (const auto& [base, allocation] : allocations_) {
    if (allocation.live) live.push_back(allocation);
  }
  return live;
}

void DeviceMemory::note_change(std::uint64_t address) {
  const auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return;
  Allocation& allocation = std::prev(after)->second;
  allocation.changed = ++changes_;
  // Which constants a kernel reads is not logged.
  if (allocation.read_only) all_changed_ = changes_;
}

bool DeviceMemory::unchanged_since(std::uint64_t base, std::uint64_t moment) const {
  const auto found = allocations_.find(base);
  return found != allocations_.end() && found->second.live &&
         found->second.sharing == Sharing::none && found->second.changed <= moment &&
         all_changed_ <= moment;
}

void DeviceMemory::begin_undo() {
  undo_->forget();
  undo_->active = true;
}

void DeviceMemory::save_page(std::uint64_t address) {
  Undo& undo = *undo_;
  if (!undo.active) return;
  const std::uint64_t index = (address - kDeviceBase) / kPageBytes;
  std::atomic_ref<std::uint8_t> saved(undo.saved[index]);
  if (saved.load(std::memory_order_acquire) != 0) return;
  const std::lock_guard lock(undo.mutex);
  if (saved.load(std::memory_order_relaxed) != 0) return;
  if (undo.pages.size() >= undo.most_pages) undo.is_full.store(true, std::memory_order_relaxed);
  Undo::Page& page = undo.pages.emplace_back();
  page.index = index;
  const std::byte* const bytes = arena_ + index * kPageBytes;
  if (!all_zero(bytes, kPageBytes)) {
    page.bytes = std::make_unique<std::byte[]>(kPageBytes);
    std::memcpy(page.bytes.get(), bytes, kPageBytes);
  }
  std::memcpy(page.shadow.data(), shadow_ + index * kShadowPageBytes, kShadowPageBytes);
  // Only now may other threads store to the page.
  saved.store(1, std::memory_order_release);
}

bool DeviceMemory::undo_is_full() const { return undo_->is_full.load(std::memory_order_relaxed); }

bool DeviceMemory::bounds_undo() const { return undo_->most_pages == kMostUndonePages; }

void DeviceMemory::commit_undo() { undo_->forget(); }

void DeviceMemory::roll_back() {
  for (const Undo::Page& page : undo_->pages) {
    std::byte* const bytes = arena_ + page.index * kPageBytes;
    if (page.bytes != nullptr) {
      std::memcpy(bytes, page.bytes.get(), kPageBytes);
    } else {
      std::memset(bytes, 0, kPageBytes);
    }
    std::memcpy(shadow_ + page.index * kShadowPageBytes, page.shadow.data(), kShadowPageBytes);
  }
  undo_->forget();
}

}  // namespace simgpu

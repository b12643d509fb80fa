#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "simgpu/memory/descriptor.h"
#include "simgpu/memory/image.h"

namespace simgpu {

/// Device addresses start here, far from anything a Linux process maps by itself, so that the
/// runtime can keep the range unmapped in the program: a host dereference of a device pointer
/// faults, as on a real machine.
inline constexpr std::uint64_t kDeviceBase = 0x2000'0000'0000;
/// Generic addresses of shared and local memory, as seen by cvta and generic loads.
inline constexpr std::uint64_t kSharedWindow = 0x1000'0000'0000;
inline constexpr std::uint64_t kLocalWindow = 0x1100'0000'0000;
inline constexpr std::uint64_t kWindowBytes = 0x0000'0100'0000'0000;

/// Who else has an allocation in its address space.
enum class Sharing : std::uint8_t {
  none,
  managed,  ///< device memory that the guest sees too, at the same address
  pinned,   ///< host memory of the guest that kernels see too, at the same address
};

/// One live or freed allocation.
struct Allocation {
  std::uint64_t id = 0;  ///< order of allocation, 1 first
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  std::string label;  ///< a variable's name or what made it, "cudaMalloc"
  bool live = true;
  bool read_only = false;  ///< constant variables: kernels may not store to them
  Sharing sharing = Sharing::none;
  bool repeats = false;       ///< a pattern, from allocate_vast()
  bool is_filled = false;     ///< its whole pages show one byte until they are stored to: fill()
  bool is_vast = false;       ///< may be larger than this machine's memory
  std::uint64_t changed = 0;  ///< DeviceMemory::changes() after what changed its content last
};

/// Memory that another process maps: whole pages, as many as hold the allocation.
struct SharedBlock {
  std::uint64_t address = 0;
  std::uint64_t mapped_bytes = 0;
  Descriptor memory;  ///< of mapped_bytes, sealed against any other size
};

/// The global memory of one device: an arena of `capacity` bytes at kDeviceBase, mapped lazily, in
/// which allocations are 256-byte aligned with at least 256 bytes of unallocated space between two,
/// never reused while the address space lasts (a use after free stays recognisable). Thread-safe
/// for concurrent loads and stores of kernels; allocate and free only between launches.
class DeviceMemory {
 public:
  /// @param capacity bytes that may be allocated at once (the GPU's memory)
  explicit DeviceMemory(std::uint64_t capacity);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Device address, or nullopt when the memory is exhausted. Contents are unspecified for the
  /// program and uninitialised for the checker; they are in fact zero, because a poison pattern
  /// would cost every page of an allocation whether it is used or not.
  /// @param read_only kernels may not store to it
  std::optional<std::uint64_t> allocate(std::uint64_t bytes, std::string label,
                                        bool read_only = false);
  /// An allocation that another process may map, on pages of its own. It can read and write the
  /// bytes at any time and nothing else: the size is sealed, for an access beyond a file's end
  /// would end this process. All of it counts as initialised, as nobody sees that process's stores.
  /// @returns nullopt when the memory is exhausted, or there are too many such blocks
  std::optional<SharedBlock> allocate_shared(std::uint64_t bytes, std::string label,
                                             Sharing sharing);
  /// An allocation that may be larger than the machine's memory: it takes pages for what is stored
  /// to it, and holds `pattern` again and again from its start to its end, or zeros where that is
  /// empty. Its bytes count as uninitialised, for the shadow of an array that does not fit would
  /// not fit either. From now on launches whose stores can be undone are bounded: undo_is_full().
  /// @param pattern whole pages
  /// @returns nullopt when the memory is exhausted
  std::optional<std::uint64_t> allocate_vast(std::uint64_t bytes, std::string label,
                                             std::span<const std::byte> pattern);
  /// False when `address` is not the base of a live allocation.
  bool release(std::uint64_t address);

  /// The live allocation that holds all of [address, address + bytes), or nullptr.
  const Allocation* find(std::uint64_t address, std::uint64_t bytes = 1) const;
  /// The nearest allocation, live or freed, for messages; nullptr when there has been none.
  const Allocation* nearest(std::uint64_t address) const;

  /// Where an address of the arena lies in this process. The caller has checked it with find().
  std::byte* host(std::uint64_t address) const { return arena_ + (address - kDeviceBase); }

  /// Copies and fills for the runtime and the trusted side; they mark bytes initialised. A copy
  /// within the memory leaves bytes as uninitialised as they were where they came from.
  /// @returns false when the range is not inside one live allocation.
  bool write(std::uint64_t address, std::span<const std::byte> bytes);
  bool read(std::uint64_t address, std::span<std::byte> bytes) const;
  bool fill(std::uint64_t address, std::uint8_t value, std::uint64_t bytes);
  bool copy(std::uint64_t destination, std::uint64_t source, std::uint64_t bytes);

  /// Initialisation shadow: one bit per byte of the arena, eight bytes per shadow byte.
  std::uint8_t* shadow(std::uint64_t address) const {
    return shadow_ + (address - kDeviceBase) / 8;
  }
  void mark_initialized(std::uint64_t address, std::uint64_t bytes);
  void mark_uninitialized(std::uint64_t address, std::uint64_t bytes);
  bool is_initialized(std::uint64_t address, std::uint64_t bytes) const;
  /// Bytes of the range that nothing has written to: how many, the first of them, and how many the
  /// longest stretch without a gap has.
  struct Unwritten {
    std::uint64_t bytes = 0;
    std::uint64_t first = 0;  ///< address
    std::uint64_t longest = 0;
  };
  Unwritten unwritten(std::uint64_t address, std::uint64_t bytes) const;

  /// Whether there is memory that a guest has mapped too.
  bool shares_memory() const { return shared_blocks_ > 0; }
  std::uint64_t capacity() const { return capacity_; }
  std::uint64_t allocated() const { return allocated_; }
  std::uint64_t peak_allocated() const { return peak_allocated_; }
  /// Host memory that kernels see; it does not count as allocated.
  std::uint64_t pinned() const { return pinned_; }
  void reset_peak() { peak_allocated_ = allocated_; }
  std::vector<Allocation> live_allocations() const;
  /// Textures and surfaces; their memory may have been freed since.
  ImageTable& images() { return images_; }

  /// How often anything was changed so far, so that a later moment can be told from an earlier one.
  /// All functions above count what they change, but for mark_initialized; who writes through
  /// host() tells it with one of the next two. Only between launches.
  std::uint64_t changes() const { return changes_; }
  /// The live allocation that holds `address` has been written to.
  void note_change(std::uint64_t address);
  /// Anything may have been written to.
  void note_change_anywhere() { all_changed_ = ++changes_; }
  /// Whether the live allocation at `base` was there and had the same content, bytes and shadow,
  /// when changes() was `moment`; and all constant variables had theirs. Of shared memory nobody
  /// knows.
  bool unchanged_since(std::uint64_t base, std::uint64_t moment) const;

  /// Undo log for a launch that may have to be repeated: begin_undo, then either commit_undo or
  /// roll_back. Between them every page a kernel stores to must pass through save_page first
  /// (thread-safe, cheap when the page is saved already).
  void begin_undo();
  void save_page(std::uint64_t address);
  /// Whether the launch has stored to more pages than may be kept beside vast allocations.
  bool undo_is_full() const;
  /// Whether there is a number of pages that is too many: there are vast allocations.
  bool bounds_undo() const;
  void commit_undo();
  void roll_back();

 private:
  struct Undo;

  /// A free range of the arena, or nullopt.
  std::optional<std::uint64_t> take_range(std::uint64_t bytes, std::uint64_t alignment);
  Allocation& add(Allocation allocation);
  bool map_again_and_again(std::uint64_t base, std::uint64_t bytes,
                           std::span<const std::byte> pattern);
  bool fill_by_mapping(Allocation& allocation, std::uint64_t address, std::uint8_t value,
                       std::uint64_t bytes);
  void map_anew(std::uint64_t address, std::uint64_t bytes);
  void forget_content(const Allocation& allocation);
  void copy_shadow(std::uint64_t destination, std::uint64_t source, std::uint64_t bytes);

  std::byte* arena_ = nullptr;
  std::uint8_t* shadow_ = nullptr;
  std::uint64_t arena_bytes_ = 0;
  std::uint64_t capacity_ = 0;
  std::uint64_t allocated_ = 0;
  std::uint64_t peak_allocated_ = 0;
  std::uint64_t pinned_ = 0;
  std::size_t shared_blocks_ = 0;
  std::uint64_t fill_mappings_ = 0;  ///< made by fills so far
  std::uint64_t next_ = 0;
  std::uint64_t next_id_ = 1;
  std::uint64_t changes_ = 0;
  std::uint64_t all_changed_ = 0;  ///< changes_ after what may have changed any allocation
  std::map<std::uint64_t, Allocation> allocations_;  // by base
  std::deque<std::uint64_t> freed_;                  // remembered in allocations_, oldest first
  std::unique_ptr<Undo> undo_;
  ImageTable images_;
};

}  // namespace simgpu

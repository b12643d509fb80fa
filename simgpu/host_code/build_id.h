#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace simgpu::host_code {

/// The first bytes of the GNU build ID among the notes of a program or library, which tell it from
/// all others; 0: it has none. The notes are untrusted.
inline std::uint64_t build_id_in(std::span<const std::byte> notes) {
  constexpr std::size_t kAlignment = 4;
  const auto aligned = [](std::size_t size) { return (size + kAlignment - 1) & ~(kAlignment - 1); };
  Elf64_Nhdr header{};
  while (notes.size() >= sizeof header) {
    std::memcpy(&header, notes.data(), sizeof header);
    notes = notes.subspan(sizeof header);
    const std::size_t name = aligned(header.n_namesz), text = aligned(header.n_descsz);
    if (name > notes.size() || text > notes.size() - name) return 0;
    const bool is_gnu = header.n_namesz == sizeof ELF_NOTE_GNU &&
                        std::memcmp(notes.data(), ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0;
    std::uint64_t id = 0;
    if (is_gnu && header.n_type == NT_GNU_BUILD_ID && header.n_descsz >= sizeof id) {
      std::memcpy(&id, notes.data() + name, sizeof id);
      return id;
    }
    notes = notes.subspan(name + text);
  }
  return 0;
}

}  // namespace simgpu::host_code

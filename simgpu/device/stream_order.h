#pragma once

#include <cstdint>
#include <map>
#include <span>

namespace simgpu {

/// Which work on streams is ordered, whatever its modelled times say: what streams, events and the
/// host know to be done. A vector clock for each of them, with the work issued to each stream
/// numbered from 1.
class StreamOrder {
 public:
  /// A piece of work.
  struct Stamp {
    std::uint64_t stream = 0;
    std::uint64_t number = 0;
  };

  /// Work is issued to a stream, behind all that is on `others` too (the rules of the default
  /// stream).
  Stamp issue(std::uint64_t stream, std::span<const std::uint64_t> others);
  /// Whether earlier work is done before anything that is issued to the stream from now on.
  bool is_before(const Stamp& earlier, std::uint64_t stream) const;
  /// Whether the host has waited for it.
  bool is_done(const Stamp& earlier) const { return knows(host_, earlier); }

  void record(std::uint64_t event, std::uint64_t stream, std::span<const std::uint64_t> others);
  void wait(std::uint64_t stream, std::uint64_t event);
  void host_waits_for_stream(std::uint64_t stream, std::span<const std::uint64_t> others);
  void host_waits_for_event(std::uint64_t event);
  void host_waits_for_all();

  /// @param is_done its work counts as done, whoever has waited for it
  void forget_stream(std::uint64_t stream, bool is_done);
  void forget_event(std::uint64_t event) { events_.erase(event); }
  void forget_all() { *this = {}; }

 private:
  using Clock = std::map<std::uint64_t, std::uint64_t>;  ///< by stream: work that is known as done
  static bool knows(const Clock& clock, const Stamp& stamp);
  static void join(Clock& clock, const Clock& other);
  Clock& behind(std::uint64_t stream, std::span<const std::uint64_t> others);

  Clock host_;
  std::map<std::uint64_t, Clock> streams_, events_;
  std::map<std::uint64_t, std::uint64_t> issued_;  ///< by stream
};

}  // namespace simgpu

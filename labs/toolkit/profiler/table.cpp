#include "labs/toolkit/profiler/table.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "labs/toolkit/profiler/text_table.h"

namespace rooflab {
namespace {

using Kind = ProfiledEvent::Kind;

/// What one event takes, with what happened inside of it and without.
struct Shares {
  double self_cpu = 0, cpu_total = 0;
  double self_cuda = 0, cuda_total = 0;
  std::int64_t self_memory = 0, memory = 0;
};

/// The ranges around an event, the innermost first.
template <typename Visit>
void for_each_range_around(const Profile& profile, const ProfiledEvent& event, Visit visit) {
  for (std::ptrdiff_t at = event.range; at != ProfiledEvent::kNoRange;
       at = profile.events[static_cast<std::size_t>(at)].range) {
    visit(static_cast<std::size_t>(at));
  }
}

/// Adds an event's own time to it and to the ranges around it.
void spread(const Profile& profile, std::size_t index, std::vector<Shares>& shares) {
  const ProfiledEvent& event = profile.events[index];
  const double time = event.duration_us;
  if (is_device_work(event)) {
    shares[index].self_cuda = shares[index].cuda_total = time;
    if (event.range != ProfiledEvent::kNoRange) {
      shares[static_cast<std::size_t>(event.range)].self_cuda += time;
    }
    for_each_range_around(profile, event, [&](std::size_t at) { shares[at].cuda_total += time; });
    return;
  }
  shares[index].self_cpu += time;
  shares[index].cpu_total = time;
  shares[index].self_memory += event.memory_bytes;
  shares[index].memory += event.memory_bytes;
  if (event.range != ProfiledEvent::kNoRange) {
    // Inside the range, so not the range's own.
    shares[static_cast<std::size_t>(event.range)].self_cpu -= time;
  }
  for_each_range_around(profile, event,
                        [&](std::size_t at) { shares[at].memory += event.memory_bytes; });
}

bool comes_first(const TableRow& a, const TableRow& b, SortBy order) {
  const auto calls = [](const TableRow& row) {
    return static_cast<double>(std::max<std::int64_t>(row.calls, 1));
  };
  const auto key = [&](const TableRow& row) -> double {
    switch (order) {
      case SortBy::name:
        return 0;
      case SortBy::self_cpu:
        return row.self_cpu_us;
      case SortBy::cpu_total:
        return row.cpu_total_us;
      case SortBy::cpu_average:
        return row.cpu_total_us / calls(row);
      case SortBy::self_cuda:
        return row.self_cuda_us;
      case SortBy::cuda_total:
        return row.cuda_total_us;
      case SortBy::cuda_average:
        return row.cuda_total_us / calls(row);
      case SortBy::cuda_memory:
        return static_cast<double>(row.cuda_memory);
      case SortBy::self_cuda_memory:
        return static_cast<double>(row.self_cuda_memory);
      case SortBy::calls:
        return static_cast<double>(row.calls);
    }
    return 0;
  };
  return key(a) != key(b) ? key(a) > key(b) : a.name < b.name;
}

}  // namespace

std::vector<TableRow> table_rows(const Profile& profile, SortBy order) {
  std::vector<Shares> shares(profile.events.size());
  for (std::size_t i = 0; i < shares.size(); ++i) spread(profile, i, shares);
  std::map<std::pair<Kind, std::string>, TableRow> by_name;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const ProfiledEvent& event = profile.events[i];
    TableRow& row = by_name[{event.kind, event.name}];
    row.name = event.name;
    row.self_cpu_us += std::max(shares[i].self_cpu, 0.0);
    row.cpu_total_us += shares[i].cpu_total;
    row.self_cuda_us += shares[i].self_cuda;
    row.cuda_total_us += shares[i].cuda_total;
    row.self_cuda_memory += shares[i].self_memory;
    row.cuda_memory += shares[i].memory;
    ++row.calls;
  }
  std::vector<TableRow> rows;
  for (auto& [name, row] : by_name) rows.push_back(std::move(row));
  std::ranges::stable_sort(
      rows, [order](const TableRow& a, const TableRow& b) { return comes_first(a, b, order); });
  return rows;
}

std::string table(const Profile& profile, SortBy order, int rows) {
  if (rows < 1) throw std::invalid_argument("a table of a profile needs rows >= 1");
  const std::vector<TableRow> all = table_rows(profile, order);
  double cpu = 0, cuda = 0;
  for (const TableRow& row : all) cpu += row.self_cpu_us;
  for (const ProfiledEvent& event : profile.events) {
    if (is_device_work(event)) cuda += event.duration_us;
  }
  TextTable text({"Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg",
                  "Self CUDA", "Self CUDA %", "CUDA total", "CUDA time avg", "CPU Mem",
                  "Self CPU Mem", "CUDA Mem", "Self CUDA Mem", "# of Calls"});
  for (std::size_t i = 0; i < all.size() && i < static_cast<std::size_t>(rows); ++i) {
    const TableRow& row = all[i];
    const auto calls = static_cast<double>(row.calls);
    text.add({row.name, share_text(row.self_cpu_us, cpu), time_text(row.self_cpu_us),
              share_text(row.cpu_total_us, cpu), time_text(row.cpu_total_us),
              time_text(row.cpu_total_us / calls), time_text(row.self_cuda_us),
              share_text(row.self_cuda_us, cuda), time_text(row.cuda_total_us),
              time_text(row.cuda_total_us / calls), "-", "-", memory_text(row.cuda_memory),
              memory_text(row.self_cuda_memory), std::to_string(row.calls)});
  }
  std::string result = text.text();
  result += "Self CPU time total: " + time_text(cpu) + "\n";
  result += "Self CUDA time total: " + time_text(cuda) + "\n";
  if (profile.modelled) result += "Times are modelled: " + profile.device.name + "\n";
  if (profile.dropped > 0) {
    result += std::to_string(profile.dropped) +
              " records were lost: the sums are too small; record fewer iterations\n";
  }
  return result;
}

}  // namespace rooflab

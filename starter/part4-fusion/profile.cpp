#include "profile.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "toolkit/todo.h"

// Your helpers go here: what is a device event, which words does a name have?

Category classify(std::string_view name) {
  rooflab::todo("cut the name at '<', turn it to lower case, then ask line by line");
}

CategoryCounts count_by_category(const std::vector<ProfiledEvent>& events) {
  rooflab::todo("which events ran on the device? Classify each and count it");
}

std::vector<Summary> summarise(const std::vector<ProfiledEvent>& events) {
  rooflab::todo("gather calls and times by name, then means and shares, then sort");
}

std::string top_kernel(const std::vector<ProfiledEvent>& events) {
  rooflab::todo("summarise only the kernels: which comes first?");
}

std::vector<Gap> launch_gaps(const std::vector<ProfiledEvent>& events) {
  rooflab::todo("walk over the device events by their start: until when is the device busy?");
}

WorkloadReport profile_workload(const std::function<void()>& iteration) {
  rooflab::todo("let rooflab::profile run the iterations; which of its events are needed?");
}

#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "grader/batch/outputs/class_results.h"
#include "specs/gpu_spec.h"

/// Classes that nobody attends, to test the outputs with.
namespace rooflab {

struct SampleClass {
  ClassResults results;
  std::map<std::string, GradeResult> gradings;

  LoadGrading loader() const {
    return [this](const std::string& name) { return gradings.at(name); };
  }
};

gpu_spec::GpuSpec sample_gpu();

/// Two parts and students of all kinds: good and bad, late, missing, with faults. The same on every
/// run.
SampleClass sample_class(std::size_t students);

/// What a submission, a roster or a grading might hold to harm who reads the outputs.
const std::vector<std::string>& hostile_texts();

/// Puts hostile text into every field of every student and grading that anybody could have a say
/// in. The keys stay different.
void make_hostile(SampleClass& sample);

}  // namespace rooflab

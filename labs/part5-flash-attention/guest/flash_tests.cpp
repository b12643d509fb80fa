#include "flash_tests.h"

#include "grader/contract/guest_call.h"
#include "guest_support/student_cases.h"

ROOFLAB_ENTRY(flash_tests) {
  rooflab::StudentCases cases(call);
  for (const FlashCase& one : flash_tests()) {
    cases.add(one.name, one.tolerance)
        .integer("batch", one.batch)
        .integer("query_heads", one.query_heads)
        .integer("key_value_heads", one.key_value_heads)
        .integer("query_length", one.query_length)
        .integer("key_length", one.key_length)
        .integer("head_dim", one.head_dim)
        .integer("causal", one.causal ? 1 : 0)
        .integer("window", one.window)
        .real("scale", one.scale)
        .array("q", one.q)
        .array("k", one.k)
        .array("v", one.v)
        .array("out", one.out)
        .array("log_sum_exp", one.log_sum_exp);
  }
}

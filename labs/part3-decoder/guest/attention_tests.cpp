#include "attention_tests.h"

#include "grader/contract/guest_call.h"
#include "guest_support/student_cases.h"

ROOFLAB_ENTRY(attention_tests) {
  rooflab::StudentCases cases(call);
  for (const AttentionCase& one : attention_tests()) {
    cases.add(one.name, one.tolerance)
        .integer("batch", one.batch)
        .integer("query_length", one.query_length)
        .integer("key_length", one.key_length)
        .integer("query_heads", one.query_heads)
        .integer("key_value_heads", one.key_value_heads)
        .integer("head_dim", one.head_dim)
        .integer("capacity", one.capacity)
        .integer("window", one.window)
        .real("scale", one.scale)
        .array("q", one.q)
        .array("keys", one.keys)
        .array("values", one.values)
        .array("out", one.out);
  }
}

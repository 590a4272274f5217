#ifndef PI_INTERCOM_BROKER_BASE_STATUS_MACROS_H_
#define PI_INTERCOM_BROKER_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Returns the status of `expr` from the enclosing function unless it is OK.
#define INTERCOM_RETURN_IF_ERROR(expr)                                \
  do {                                                                \
    if (absl::Status intercom_status = (expr); !intercom_status.ok()) \
      return intercom_status;                                         \
  } while (false)

#define INTERCOM_CONCAT_INNER(a, b) a##b
#define INTERCOM_CONCAT(a, b) INTERCOM_CONCAT_INNER(a, b)

// Evaluates `expr`, a StatusOr: assigns its value to `lhs` or returns its
// status from the enclosing function.
#define INTERCOM_ASSIGN_OR_RETURN(lhs, expr)                                   \
  INTERCOM_ASSIGN_OR_RETURN_IMPL(INTERCOM_CONCAT(intercom_or_, __LINE__), lhs, \
                                 expr)

#define INTERCOM_ASSIGN_OR_RETURN_IMPL(value_or, lhs, expr) \
  auto value_or = (expr);                                   \
  if (!value_or.ok()) return std::move(value_or).status();  \
  lhs = *std::move(value_or)

#endif  // PI_INTERCOM_BROKER_BASE_STATUS_MACROS_H_

// NEPHILA_CHECK: a condition that only a bug of ours can break.
//
// Always on, so it has to be cheap; NEPHILA_DCHECK is compiled only without
// NDEBUG. Neither may ever depend on input from outside: bad input is an
// Outcome or an Error.
#pragma once

namespace nephila {

// Prints the place to stderr and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* what);

}  // namespace nephila

#define NEPHILA_CHECK(condition)                              \
  do {                                                        \
    if (!(condition)) [[unlikely]] {                          \
      ::nephila::CheckFailed(__FILE__, __LINE__, #condition); \
    }                                                         \
  } while (false)

#ifdef NDEBUG
#define NEPHILA_DCHECK(condition)   \
  do {                              \
    if (false) {                    \
      static_cast<void>(condition); \
    }                               \
  } while (false)
#else
#define NEPHILA_DCHECK(condition) NEPHILA_CHECK(condition)
#endif

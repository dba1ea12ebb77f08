// Result<T, E>: a value or an error, never silently dropped.
//
// Spelled like std::expected (has_value, *, error, value_or, and_then,
// transform), which neither g++ 12 in C++20 nor clang 14 has, so that a later
// toolchain can replace it. Unlike std::expected the class itself is
// [[nodiscard]]: a call whose error nobody looks at does not compile. And a
// Result<bool> is no condition: `if (fs.Exists(path))` would ask whether the
// question was answered, and read as if it asked for the answer.
#pragma once

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/error.h"

namespace nephila {

// Marks the error side of a Result: `return Unexpected(Error{...});`.
template <typename E>
class Unexpected {
 public:
  explicit Unexpected(E error) : error_(std::move(error)) {}
  E& error() & { return error_; }
  E&& error() && { return std::move(error_); }

 private:
  E error_;
};

template <typename T, typename E = Error>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  using error_type = E;

  Result(T value)  // NOLINT(google-explicit-constructor): `return value;`
      : state_(std::in_place_index<0>, std::move(value)) {}
  template <typename G>
  Result(Unexpected<G> error)  // NOLINT(google-explicit-constructor)
      : state_(std::in_place_index<1>, std::move(error).error()) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const requires(!std::is_same_v<T, bool>) {
    return has_value();
  }

  T& operator*() & {
    NEPHILA_CHECK(has_value());
    return *std::get_if<0>(&state_);
  }
  const T& operator*() const& {
    NEPHILA_CHECK(has_value());
    return *std::get_if<0>(&state_);
  }
  T&& operator*() && {
    NEPHILA_CHECK(has_value());
    return std::move(*std::get_if<0>(&state_));
  }
  T* operator->() { return &**this; }
  const T* operator->() const { return &**this; }

  E& error() & {
    NEPHILA_CHECK(!has_value());
    return *std::get_if<1>(&state_);
  }
  const E& error() const& {
    NEPHILA_CHECK(!has_value());
    return *std::get_if<1>(&state_);
  }
  E&& error() && {
    NEPHILA_CHECK(!has_value());
    return std::move(*std::get_if<1>(&state_));
  }

  template <typename U>
  T value_or(U&& fallback) && {
    return has_value() ? *std::move(*this)
                       : static_cast<T>(std::forward<U>(fallback));
  }
  // f: T -> Result<U, E>.
  template <typename F>
  auto and_then(F&& f) && -> std::invoke_result_t<F, T> {
    if (!has_value()) return Unexpected(std::move(*this).error());
    return std::invoke(std::forward<F>(f), *std::move(*this));
  }
  // f: T -> U.
  template <typename F>
  auto transform(F&& f) && -> Result<std::invoke_result_t<F, T>, E> {
    if (!has_value()) return Unexpected(std::move(*this).error());
    return std::invoke(std::forward<F>(f), *std::move(*this));
  }

 private:
  std::variant<T, E> state_;
};

template <typename E>
class [[nodiscard]] Result<void, E> {
 public:
  using value_type = void;
  using error_type = E;

  Result() = default;
  template <typename G>
  Result(Unexpected<G> error)  // NOLINT(google-explicit-constructor)
      : error_(std::move(error).error()) {}

  bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }

  const E& error() const& {
    NEPHILA_CHECK(!has_value());
    return *error_;
  }
  E&& error() && {
    NEPHILA_CHECK(!has_value());
    return *std::move(error_);
  }
  // f: () -> Result<U, E>.
  template <typename F>
  auto and_then(F&& f) && -> std::invoke_result_t<F> {
    if (!has_value()) return Unexpected(std::move(*this).error());
    return std::invoke(std::forward<F>(f));
  }

 private:
  std::optional<E> error_;
};

// What a function returns that can only succeed or fail.
using Status = Result<void, Error>;

// Drops an error on purpose; `why` is for the reader.
template <typename R>
void IgnoreError(R&& result, const char* why) {
  static_cast<void>(result);
  static_cast<void>(why);
}

}  // namespace nephila

#define NEPHILA_CONCAT_INNER(a, b) a##b
#define NEPHILA_CONCAT(a, b) NEPHILA_CONCAT_INNER(a, b)

// NOLINTBEGIN(bugprone-macro-parentheses): a declaration takes none.
// NEPHILA_TRY(auto file, fs.Open(path)): the value, or return the error. Not
// __LINE__: two may stand on one line, as in the body of another macro.
#define NEPHILA_TRY(declaration, expression)                                \
  NEPHILA_TRY_INNER(NEPHILA_CONCAT(nephila_try_, __COUNTER__), declaration, \
                    expression)
#define NEPHILA_TRY_INNER(tmp, declaration, expression)   \
  auto tmp = (expression);                                \
  if (!tmp.has_value()) {                                 \
    return ::nephila::Unexpected(std::move(tmp).error()); \
  }                                                       \
  declaration = *std::move(tmp)

// NOLINTEND(bugprone-macro-parentheses)

// NEPHILA_RETURN_IF_ERROR(file->Sync()): go on, or return the error.
#define NEPHILA_RETURN_IF_ERROR(expression)                                \
  do {                                                                     \
    if (auto nephila_status = (expression); !nephila_status.has_value()) { \
      return ::nephila::Unexpected(std::move(nephila_status).error());     \
    }                                                                      \
  } while (false)

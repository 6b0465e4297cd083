// FunctionRef: a callable borrowed for the time of a call. Two words, never allocates; for hot
// paths where std::function would cost an allocation or an indirection too many. It must not
// outlive what it refers to.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace tenon {

template <typename Signature>
class FunctionRef;

template <typename R, typename... Args>
class FunctionRef<R(Args...)> {
 public:
  template <typename F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> &&
             std::is_invocable_r_v<R, F&, Args...>)
  FunctionRef(F&& function)  // NOLINT(google-explicit-constructor): made at call sites from lambdas
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(function)))),
        call_([](void* object, Args... args) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(object))(std::forward<Args>(args)...);
        }) {}

  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};

}  // namespace tenon

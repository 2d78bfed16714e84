// Type erasure: the adaptors from the typed forms (Problem, ManyOne, Turing) to the registry's entries.
#pragma once

#include <subquad/reductions/registry.hpp>

#include <any>
#include <concepts>
#include <memory>
#include <string>
#include <utility>

namespace subquad::reductions::erased {

/// The typed value inside `any`. Throws Error(parameter) if it belongs to another problem, Error(internal) if the id is
/// right and the type is not.
template <class P, class Value, class Any>
const Value& unwrap(const Any& any, std::string_view what) {
  require(any.problem == P::kId, ErrorKind::parameter, "{} of problem '{}', expected one of '{}'", what, any.problem,
          P::kId);
  const Value* value = std::any_cast<Value>(&any.value);
  require(value != nullptr, ErrorKind::internal, "{} labelled '{}' holds a value of another type", what, any.problem);
  return *value;
}

template <class P>
const typename P::Instance& instance_of(const AnyInstance& any) {
  return unwrap<P, typename P::Instance>(any, "instance");
}

template <class P>
const typename P::Answer& answer_of(const AnyAnswer& any) {
  return unwrap<P, typename P::Answer>(any, "answer");
}

template <class P>
AnyInstance wrap_instance(typename P::Instance instance) {
  return {std::string(P::kId), std::any(std::move(instance))};
}

template <class P>
AnyAnswer wrap_answer(typename P::Answer answer) {
  return {std::string(P::kId), std::any(std::move(answer))};
}

template <Problem P>
ProblemEntry problem_entry() {
  ProblemEntry entry;
  entry.id = std::string(P::kId);
  entry.title = std::string(P::kTitle);
  entry.extension = std::string(P::kExtension);
  entry.size_fields = P::size_fields();
  entry.read_instance = [](std::istream& in, const std::string& name) {
    return wrap_instance<P>(P::read_instance(in, name));
  };
  entry.write_instance = [](std::ostream& out, const AnyInstance& instance, const Provenance& provenance) {
    P::write_instance(out, instance_of<P>(instance), provenance);
  };
  entry.read_answer = [](std::istream& in, const std::string& name) {
    auto file = P::read_answer(in, name);
    return std::pair<AnyAnswer, std::optional<Digest>>(wrap_answer<P>(std::move(file.answer)), file.instance);
  };
  entry.write_answer = [](std::ostream& out, const AnyInstance& instance, const AnyAnswer& answer,
                          const Provenance& provenance) {
    P::write_answer(out, instance_of<P>(instance), answer_of<P>(answer), provenance);
  };
  entry.size = [](const AnyInstance& instance) { return P::size(instance_of<P>(instance)); };
  entry.digest = [](const AnyInstance& instance) { return P::digest(instance_of<P>(instance)); };
  entry.solve_brute_force = [](const AnyInstance& instance, const Execution& execution) {
    return wrap_answer<P>(P::solve_brute_force(instance_of<P>(instance), execution));
  };
  entry.check = [](const AnyInstance& instance, const AnyAnswer& answer) {
    return P::check(instance_of<P>(instance), answer_of<P>(answer));
  };
  return entry;
}

/// A reduction R with its parameters, behind the type-erased interface.
template <class R>
class ErasedReduction final : public AnyReduction {
 public:
  using Source = typename R::Source;
  using Target = typename R::Target;
  static_assert(ManyOne<R> || Turing<R>);

  explicit ErasedReduction(R reduction) : reduction_(std::move(reduction)) {}

  std::vector<SizeBound> size_bounds() const override { return reduction_.size_bounds(); }

  AnyInstance reduce(const AnyInstance& source, const Execution& execution) const override {
    if constexpr (ManyOne<R>) {
      return wrap_instance<Target>(reduction_.reduce(instance_of<Source>(source), execution));
    } else {
      refuse("reduce");
    }
  }

  AnyAnswer lift(const AnyInstance& source, const AnyInstance& target, const AnyAnswer& answer) const override {
    if constexpr (ManyOne<R>) {
      return wrap_answer<Source>(
          reduction_.lift(instance_of<Source>(source), instance_of<Target>(target), answer_of<Target>(answer)));
    } else {
      refuse("lift");
    }
  }

  AnyAnswer solve(const AnyInstance& source, const AnyOracle& oracle, const Execution& execution) const override {
    if constexpr (Turing<R>) {
      // Also for a many-one reduction that offers solve(): it knows cases that need no oracle at all.
      const Oracle<Target> typed{"", [&oracle](const typename Target::Instance& instance) {
                                   return answer_of<Target>(oracle(wrap_instance<Target>(instance)));
                                 }};
      return wrap_answer<Source>(reduction_.solve(instance_of<Source>(source), typed, execution));
    } else {
      // Without a detour through Oracle<Target>, which would copy the target (often the largest object of a run).
      const AnyInstance target = reduce(source, execution);
      return lift(source, target, oracle(target));
    }
  }

 private:
  [[noreturn]] static void refuse(std::string_view verb) {
    fail(ErrorKind::unsupported,
         "{} is a Turing reduction (many oracle calls): it can be solved with an oracle, {} needs a "
         "many-one reduction",
         R::info().name, verb);
  }

  R reduction_;
};

template <class R>
ReductionEntry reduction_entry() {
  ReductionEntry entry;
  entry.info = R::info();
  entry.parameters = R::Parameters::specs();
  entry.make = [](const ParameterValues& values) -> std::shared_ptr<const AnyReduction> {
    return std::make_shared<ErasedReduction<R>>(R(R::Parameters::parse(values)));
  };
  return entry;
}

}  // namespace subquad::reductions::erased

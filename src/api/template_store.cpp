#include "api/template_store.h"

#include "api/differing_options.h"
#include "api/driver_options.h"
#include "base/error.h"
#include "driver/environment.h"
#include "legalize/dispatch.h"

namespace tenon {
namespace {

size_t some(size_t capacity, const std::string& who) {
  if (capacity == 0)
    throw user_error("{} a capacity of 0 keeps nothing: at least 1 is needed", who);
  return capacity;
}

void check_has_no_binding(const CompileOptions& options, const std::string& who) {
  if (!options.dim_binding.empty())
    throw user_error("{} the options have a dim_binding: values for dims are given apart", who);
}

DispatchPolicy dispatch_of(const CompileOptions& options) {
  return driver::dispatch_options(driver_options(options)).policy;
}

TemplateStore::Template planned(const ModelSource& source, const CompileOptions& asked) {
  const auto level = verbosity_of(with_profile(asked));
  return std::make_shared<const ModelTemplate>(source, options_of_template(asked));
}

}  // namespace

TemplateStore::TemplateStore(std::string who, const std::string& entry, const Device& device,
                             size_t capacity, std::optional<PrecisionPolicy> policy)
    : who_(std::move(who)),
      templates_(1 + std::size(legalize::kDispatchPolicies)),
      graphs_(who_ + " " + entry, device, some(capacity, who_), policy) {}

CompileOptions TemplateStore::checked(const CompileOptions& given) const {
  check_has_no_binding(given, who_);
  CompileOptions asked = merged(graphs_.session().defaults(), given);
  if (asked.device != device())
    throw user_error("{} it is for {}, the options say {}", who_, to_string(device()),
                     to_string(*asked.device));
  return asked;
}

TemplateStore::Template TemplateStore::first(const Build& build, const CompileOptions& asked) {
  return templates_.get_or_make(kFirst, [&] { return planned(build(), asked); });
}

TemplateStore::Template TemplateStore::ensure(const Build& build, const CompileOptions& options) {
  const CompileOptions asked = checked(options);
  Template found = first(build, asked);
  check_options(*found, asked);
  return found;
}

TemplateStore::Template TemplateStore::ensure_dispatched(const Build& build,
                                                         const CompileOptions& options) {
  const CompileOptions asked = checked(options);
  Template found = first(build, asked);
  const DispatchPolicy policy = dispatch_of(asked);
  if (policy != dispatch_of(found->options)) {
    CompileOptions alike = asked;
    alike.dispatch = found->options.dispatch;
    check_options(*found, alike);
    const uint64_t key = 1 + static_cast<uint64_t>(policy);
    found = templates_.get_or_make(key, [&] { return planned(found->source, asked); });
  }
  check_options(*found, asked);
  return found;
}

void TemplateStore::check_options(const ModelTemplate& found, const CompileOptions& asked) const {
  const std::string different = differing_options(found.options, options_of_template(asked));
  if (different.empty()) return;
  throw user_error("{} the template was planned by other options: {}", who_, different);
}

TemplateStore::Entry TemplateStore::specialize(uint64_t key, FunctionRef<Template()> from,
                                               const DimBinding& binding,
                                               const CompileOptions& options, AotCache* aot) {
  return made(key, binding, options, [&](const Session& session, const CompileOptions& named) {
    const LirModule& lir = from()->result.lir;
    return aot ? aot->specialize_cached(lir, binding, merged(session.defaults(), named))
               : session.specialize(lir, binding, named);
  });
}

TemplateStore::Entry TemplateStore::compile(uint64_t key, const LirModule& lir,
                                            const DimBinding& binding,
                                            const CompileOptions& options) {
  return made(key, binding, options, [&](const Session& session, const CompileOptions& named) {
    return session.compile(lir, named);
  });
}

TemplateStore::Entry TemplateStore::made(uint64_t key, const DimBinding& binding,
                                         const CompileOptions& options, Compile compile) {
  check_has_no_binding(options, who_);
  CompileOptions bound = options;
  bound.dim_binding = binding;
  return graphs_.compile(key, bound, [&](const Session& session) {
    const Template from = find();
    TENON_CHECK(from, "[cache] an entry without a template");
    CompiledGraph graph = compile(session, merged({.name = from->module().name()}, options));
    if (from->params()) graph.use_params(*from->params());
    return graph;
  });
}

}  // namespace tenon

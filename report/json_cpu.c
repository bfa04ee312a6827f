/* "cpu" in the JSON report: where the CPU time goes. Fractions are of "cpu_s". */
#include "report/json_parts.h"

#include <string.h>

#include "report/content/names.h"

#define THREADS_SHOWN 64

static double fraction_of(const struct json_writer *writer, const struct cpu_sum *sum)
{
	return estimate_fraction(sum->ns, writer->model->cpu.whole_ns);
}

static json_t *method_json(struct json_writer *writer, const struct ranked_method *r)
{
	struct method_names names = method_names(&writer->model->window->profile, r->method);

	if (!report_json_take_names(writer, strlen(names.class_name) + strlen(names.name)))
		return json_null();
	return JSON_OBJECT({"class", json_string(names.class_name)},
			   {"method", json_string(names.name)},
			   {"exclusive", json_real(fraction_of(writer, &r->own))},
			   {"inclusive", json_real(fraction_of(writer, &r->total))},
			   {"exclusive_samples", json_integer((json_int_t)r->own.samples)},
			   {"inclusive_samples", json_integer((json_int_t)r->total.samples)});
}

static json_t *context_json(struct json_writer *writer, const struct cpu_context *c)
{
	struct cpu_sum sum = cpu_context_sum(c);

	if (!report_json_take_contexts(writer, c->node, 0))
		return json_null();
	return JSON_OBJECT(
	    {"fraction", json_real(fraction_of(writer, &sum))},
	    {"samples", json_integer((json_int_t)sum.samples)},
	    {"compiled_samples", json_integer((json_int_t)c->code[CPU_COMPILED].samples)},
	    {"interpreted_samples", json_integer((json_int_t)c->code[CPU_INTERPRETED].samples)},
	    {"native_samples", json_integer((json_int_t)c->code[CPU_NATIVE].samples)},
	    {"kernel_samples", json_integer((json_int_t)c->code[CPU_KERNEL].samples)},
	    {"frames", report_json_frames(writer, c->node)});
}

/* Without what is known of the JVM's own threads. */
static json_t *sums_json(const struct report_cpu *c, const struct cpu_profile *p)
{
	return JSON_OBJECT(
	    {"samples", json_integer((json_int_t)c->samples)}, {"cpu_s", json_real(c->whole_s)},
	    {"java_fraction", json_real(c->compiled + c->interpreted)},
	    {"compiled_fraction", json_real(c->compiled)},
	    {"interpreted_fraction", json_real(c->interpreted)},
	    {"native_fraction", json_real(c->native)}, {"kernel_fraction", json_real(c->kernel)},
	    {"no_java_fraction", json_real(c->no_java)},
	    {"unwalkable_fraction", json_real(c->unwalkable)},
	    {"truncated_fraction", json_real(c->truncated)}, {"lost_fraction", json_real(c->lost)},
	    {"other_fraction", json_real(c->other)},
	    {"kernel_samples", json_integer((json_int_t)cpu_profile_kernel(p).samples)},
	    {"no_java_samples",
	     json_integer((json_int_t)p->states[JXP__CPU_SAMPLE__STATE__NO_JAVA].samples)},
	    {"unwalkable_samples",
	     json_integer((json_int_t)p->states[JXP__CPU_SAMPLE__STATE__UNKNOWN].samples)},
	    {"truncated_samples", json_integer((json_int_t)p->truncated.samples)});
}

/* A part of the program's own time. */
static double seconds_of(const struct json_writer *writer, double ns)
{
	const struct report_cpu *c = &writer->model->cpu;

	return c->whole_s * estimate_fraction(ns, c->whole_ns);
}

static json_t *thread_json(const struct json_writer *writer, const struct watched_thread *t)
{
	return JSON_OBJECT({"tid", json_integer((json_int_t)t->tid)},
			   {"name", json_text(t->name[0] ? t->name : NULL)},
			   {"cpu_s", json_real(seconds_of(writer, t->ticks.ns))},
			   {"kernel_s", json_real(seconds_of(writer, t->kernel.ns))},
			   {"fraction", json_real(fraction_of(writer, &t->ticks))});
}

/* The first of them; null where they are not known. */
static json_t *threads_json(const struct json_writer *writer)
{
	const struct cpu_ranking *r = &writer->model->cpu.ranking;

	if (r->thread_count == 0)
		return json_null();
	return JSON_ROWS(writer, r->threads, r->thread_count, THREADS_SHOWN, thread_json);
}

/* CPU time of ticks in threads that are not among these, some of which may not be known. */
static double other_threads_s(const struct json_writer *writer)
{
	const struct cpu_ranking *r = &writer->model->cpu.ranking;
	const struct window_result *w = writer->model->window;
	double ns = cpu_profile_all(&w->cpu).ns - window_result_kernel_taken_ns(w);

	for (size_t i = 0; i < r->thread_count && i < THREADS_SHOWN; i++)
		ns -= r->threads[i].ticks.ns;
	return ns > 0 ? seconds_of(writer, ns) : 0;
}

static json_t *lists_json(struct json_writer *writer, size_t limit)
{
	const struct cpu_ranking *r = &writer->model->cpu.ranking;
	json_t *by_own = JSON_ROWS(writer, r->by_own, r->by_own_count, limit, method_json);
	json_t *by_total = JSON_ROWS(writer, r->by_total, r->by_total_count, limit, method_json);
	json_t *contexts = JSON_ROWS(writer, r->contexts, r->context_count, limit, context_json);
	size_t own = json_array_size(by_own), total = json_array_size(by_total),
	       paths = json_array_size(contexts);

	return JSON_OBJECT(
	    {"by_exclusive", by_own}, {"threads", threads_json(writer)},
	    {"threads_omitted_s", json_real(other_threads_s(writer))},
	    {"by_exclusive_omitted", json_integer((json_int_t)(r->by_own_count - own))},
	    {"by_inclusive", by_total},
	    {"by_inclusive_omitted", json_integer((json_int_t)(r->by_total_count - total))},
	    {"contexts", contexts},
	    {"contexts_omitted", json_integer((json_int_t)(r->context_count - paths))});
}

json_t *report_json_cpu(struct json_writer *writer, size_t limit)
{
	const struct report_cpu *c = &writer->model->cpu;
	json_t *cpu;

	if (!c->taken)
		return json_null();
	cpu = sums_json(c, &writer->model->window->cpu);
	cpu = json_with(cpu, "gc_fraction", json_known(c->beside_known, c->gc));
	cpu = json_with(cpu, "jit_fraction", json_known(c->beside_known, c->jit));
	return json_joined(cpu, lists_json(writer, limit));
}

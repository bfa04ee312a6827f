/* "cpu" in the JSON report: where the CPU time goes. Fractions are of "cpu_s". */
#include "daemon/report/json_parts.h"

#include <string.h>

#define THREADS_SHOWN 64

static double fraction_of(const struct json_writer *writer, const struct cpu_sum *sum)
{
	return estimate_fraction(sum->ns, writer->model->cpu.whole_ns);
}

/* NULL without memory; json_null() when the document may hold no more names. */
static json_t *method_json(struct json_writer *writer, const struct ranked_method *r)
{
	const struct profile *p = &writer->model->window->profile;
	const struct cct_method *known = cct_method(&p->cct, r->method);
	const char *class_name = known ? strings_get(&p->strings, known->class_name) : "";
	const char *name = known ? strings_get(&p->strings, known->name) : "";

	if (!report_json_take_names(writer, strlen(class_name) + strlen(name)))
		return json_null();
	return json_pack("{s:s, s:s, s:f, s:f, s:I, s:I}", "class", class_name, "method", name,
			 "exclusive", fraction_of(writer, &r->own), "inclusive",
			 fraction_of(writer, &r->total), "exclusive_samples",
			 (json_int_t)r->own.samples, "inclusive_samples",
			 (json_int_t)r->total.samples);
}

static json_t *methods_json(struct json_writer *writer, const struct ranked_method *list,
			    size_t count, size_t limit)
{
	_cleanup_json_ json_t *methods = json_array();

	for (size_t i = 0; i < count && i < limit; i++) {
		json_t *method = method_json(writer, &list[i]);

		if (json_is_null(method))
			break;
		if (json_array_append_new(methods, method) < 0)
			return NULL;
	}
	return TAKE_PTR(methods);
}

static json_t *contexts_json(struct json_writer *writer, size_t limit)
{
	const struct cpu_ranking *r = &writer->model->cpu.ranking;
	_cleanup_json_ json_t *contexts = json_array();

	for (size_t i = 0; i < r->context_count && i < limit; i++) {
		const struct cpu_context *c = &r->contexts[i];
		struct cpu_sum sum = cpu_context_sum(c);

		if (!report_json_take_contexts(writer, c->node, 0))
			break;
		if (json_array_append_new(
			contexts,
			json_pack("{s:f, s:I, s:I, s:I, s:I, s:I, s:o}", "fraction",
				  fraction_of(writer, &sum), "samples", (json_int_t)sum.samples,
				  "compiled_samples", (json_int_t)c->code[CPU_COMPILED].samples,
				  "interpreted_samples",
				  (json_int_t)c->code[CPU_INTERPRETED].samples, "native_samples",
				  (json_int_t)c->code[CPU_NATIVE].samples, "kernel_samples",
				  (json_int_t)c->code[CPU_KERNEL].samples, "frames",
				  report_json_frames(writer, c->node))) < 0)
			return NULL;
	}
	return TAKE_PTR(contexts);
}

/* Without what is known of the JVM's own threads. */
static json_t *sums_json(const struct report_cpu *c, const struct cpu_profile *p)
{
	return json_pack(
	    "{s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:I}",
	    "samples", (json_int_t)c->samples, "cpu_s", c->whole_s, "java_fraction",
	    c->compiled + c->interpreted, "compiled_fraction", c->compiled, "interpreted_fraction",
	    c->interpreted, "native_fraction", c->native, "kernel_fraction", c->kernel,
	    "no_java_fraction", c->no_java, "unwalkable_fraction", c->unwalkable,
	    "truncated_fraction", c->truncated, "lost_fraction", c->lost, "other_fraction",
	    c->other, "kernel_samples", (json_int_t)cpu_profile_kernel(p).samples,
	    "no_java_samples", (json_int_t)p->states[JXP__CPU_SAMPLE__STATE__NO_JAVA].samples,
	    "unwalkable_samples", (json_int_t)p->states[JXP__CPU_SAMPLE__STATE__UNKNOWN].samples,
	    "truncated_samples", (json_int_t)p->truncated.samples);
}

/* Of the program's own time. */
static double seconds_of(const struct json_writer *writer, double ns)
{
	const struct report_cpu *c = &writer->model->cpu;

	return c->whole_s * estimate_fraction(ns, c->whole_ns);
}

/* The first of them; null where they are not known. */
static json_t *threads_json(const struct json_writer *writer)
{
	const struct cpu_ranking *r = &writer->model->cpu.ranking;
	_cleanup_json_ json_t *threads = json_array();

	if (r->thread_count == 0)
		return json_null();
	for (size_t i = 0; i < r->thread_count && i < THREADS_SHOWN; i++) {
		const struct watched_thread *t = &r->threads[i];

		if (json_array_append_new(
			threads, json_pack("{s:I, s:s?, s:f, s:f, s:f}", "tid", (json_int_t)t->tid,
					   "name", t->name[0] ? t->name : NULL, "cpu_s",
					   seconds_of(writer, t->ticks.ns), "kernel_s",
					   seconds_of(writer, t->kernel.ns), "fraction",
					   fraction_of(writer, &t->ticks))) < 0)
			return NULL;
	}
	return TAKE_PTR(threads);
}

/* CPU time of ticks in threads that are not among these, some of which may not be known. */
static double other_threads_s(const struct json_writer *writer)
{
	const struct cpu_ranking *r = &writer->model->cpu.ranking;
	double ns = cpu_profile_all(&writer->model->window->cpu).ns;

	for (size_t i = 0; i < r->thread_count && i < THREADS_SHOWN; i++)
		ns -= r->threads[i].ticks.ns;
	return ns > 0 ? seconds_of(writer, ns) : 0;
}

static int set_lists(json_t *cpu, struct json_writer *writer, size_t limit)
{
	const struct cpu_ranking *r = &writer->model->cpu.ranking;
	json_t *by_own = methods_json(writer, r->by_own, r->by_own_count, limit);
	json_t *by_total = methods_json(writer, r->by_total, r->by_total_count, limit);
	json_t *contexts = contexts_json(writer, limit);
	size_t own = json_array_size(by_own), total = json_array_size(by_total),
	       paths = json_array_size(contexts);
	int wrong = json_object_set_new(cpu, "by_exclusive", by_own);

	wrong |= json_object_set_new(cpu, "threads", threads_json(writer));
	wrong |= json_object_set_new(cpu, "threads_omitted_s", json_real(other_threads_s(writer)));
	wrong |= json_object_set_new(cpu, "by_exclusive_omitted",
				     json_integer((json_int_t)(r->by_own_count - own)));
	wrong |= json_object_set_new(cpu, "by_inclusive", by_total);
	wrong |= json_object_set_new(cpu, "by_inclusive_omitted",
				     json_integer((json_int_t)(r->by_total_count - total)));
	wrong |= json_object_set_new(cpu, "contexts", contexts);
	wrong |= json_object_set_new(cpu, "contexts_omitted",
				     json_integer((json_int_t)(r->context_count - paths)));
	return wrong;
}

json_t *report_json_cpu(struct json_writer *writer, size_t limit)
{
	const struct report_cpu *c = &writer->model->cpu;
	_cleanup_json_ json_t *cpu = NULL;
	int wrong;

	if (!c->taken)
		return json_null();
	cpu = sums_json(c, &writer->model->window->cpu);
	wrong = json_object_set_new(cpu, "gc_fraction",
				    c->beside_known ? json_real(c->gc) : json_null());
	wrong |= json_object_set_new(cpu, "jit_fraction",
				     c->beside_known ? json_real(c->jit) : json_null());
	if (wrong || set_lists(cpu, writer, limit))
		return NULL;
	return TAKE_PTR(cpu);
}

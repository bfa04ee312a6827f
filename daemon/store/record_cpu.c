#include "daemon/store/record_parts.h"

#include <errno.h>

/* The columns of one kind of code. */
struct code_columns {
	size_t sample_count, ns_count;
	uint64_t *samples;
	double *ns;
};

static void code_columns(const Jxp__StoredCpu *m, struct code_columns columns[CPU_CODES])
{
	columns[CPU_COMPILED] = (struct code_columns){m->n_compiled_samples, m->n_compiled_ns,
						      m->compiled_samples, m->compiled_ns};
	columns[CPU_INTERPRETED] =
	    (struct code_columns){m->n_interpreted_samples, m->n_interpreted_ns,
				  m->interpreted_samples, m->interpreted_ns};
	columns[CPU_NATIVE] = (struct code_columns){m->n_native_samples, m->n_native_ns,
						    m->native_samples, m->native_ns};
	columns[CPU_KERNEL] = (struct code_columns){m->n_kernel_samples, m->n_kernel_ns,
						    m->kernel_samples, m->kernel_ns};
}

/* ---------------------------------------------------------------- packing */

static int pack_contexts(struct arena *a, const struct cpu_profile *c, Jxp__StoredCpu *m)
{
	size_t count = c->context_count;
	struct code_columns columns[CPU_CODES];

	if (!RECORD_COLUMN(a, m, context_node, count) ||
	    !RECORD_COLUMN(a, m, compiled_samples, count) ||
	    !RECORD_COLUMN(a, m, compiled_ns, count) ||
	    !RECORD_COLUMN(a, m, interpreted_samples, count) ||
	    !RECORD_COLUMN(a, m, interpreted_ns, count) ||
	    !RECORD_COLUMN(a, m, native_samples, count) || !RECORD_COLUMN(a, m, native_ns, count) ||
	    !RECORD_COLUMN(a, m, kernel_samples, count) || !RECORD_COLUMN(a, m, kernel_ns, count))
		return -ENOMEM;
	code_columns(m, columns);
	for (size_t i = 0; i < count; i++) {
		m->context_node[i] = c->contexts[i].node;
		for (size_t code = 0; code < CPU_CODES; code++) {
			columns[code].samples[i] = c->contexts[i].code[code].samples;
			columns[code].ns[i] = c->contexts[i].code[code].ns;
		}
	}
	return 0;
}

int record_pack_cpu(struct arena *a, const struct cpu_profile *c, Jxp__StoredCpu *m)
{
	jxp__stored_cpu__init(m);
	if (!RECORD_COLUMN(a, m, state_samples, CPU_STATES) ||
	    !RECORD_COLUMN(a, m, state_ns, CPU_STATES))
		return -ENOMEM;
	for (size_t i = 0; i < CPU_STATES; i++) {
		m->state_samples[i] = c->states[i].samples;
		m->state_ns[i] = c->states[i].ns;
	}
	m->truncated_samples = c->truncated.samples;
	m->truncated_ns = c->truncated.ns;
	m->lost_samples = c->lost.samples;
	m->lost_ns = c->lost.ns;
	m->refused = c->refused;
	m->span_ns = c->beside.span_ns;
	m->gc_ns = c->beside.gc_ns;
	m->jit_ns = c->beside.jit_ns;
	return pack_contexts(a, c, m);
}

int record_pack_threads(struct arena *a, const struct thread_table *t, Jxp__StoredCpu *m)
{
	Jxp__StoredThread *threads = record_allocate(a, t->count, sizeof(*threads));
	size_t count = 0;

	if (!threads || !RECORD_COLUMN(a, m, threads, t->count))
		return -ENOMEM;
	for (size_t i = 0; i < t->count; i++) {
		const struct watched_thread *from = &t->threads[i];
		Jxp__StoredThread *to = &threads[count];

		if (from->ticks.samples == 0)
			continue;
		jxp__stored_thread__init(to);
		to->tid = from->tid;
		to->name = (char *)from->name;
		to->samples = from->ticks.samples;
		to->ns = from->ticks.ns;
		to->kernel_samples = from->kernel.samples;
		to->kernel_ns = from->kernel.ns;
		m->threads[count++] = to;
	}
	m->n_threads = count;
	return 0;
}

/* ---------------------------------------------------------------- unpacking */

/* What no agent can have said, and of which still any sum is a number. */
#define NS_MAX 0x1p100

static bool is_time(double ns)
{
	return record_is_sum(ns) && ns < NS_MAX;
}

/* Time without ticks says that it is no sum of them. */
static bool sum_is_valid(const struct cpu_sum *s)
{
	return is_time(s->ns) && (s->samples > 0 || !(s->ns > 0));
}

static int unpack_context(const struct profile *p, struct cpu_profile *c,
			  const struct cpu_context *context)
{
	size_t expected = c->context_count + 1;
	int r;

	if (context->node == 0 || !record_has_node(p, context->node))
		return -EBADMSG;
	for (size_t code = 0; code < CPU_CODES; code++)
		if (!sum_is_valid(&context->code[code]))
			return -EBADMSG;
	r = cpu_profile_add_context(c, context, 1);
	return r == 0 && c->context_count != expected ? -EBADMSG : r;
}

static int unpack_contexts(const Jxp__StoredCpu *m, const struct profile *p, struct cpu_profile *c)
{
	struct code_columns columns[CPU_CODES];
	size_t count = m->n_context_node, codes = CPU_CODES;
	int r = 0;

	code_columns(m, columns);
	if (m->n_kernel_samples == 0 && m->n_kernel_ns == 0)
		codes = CPU_KERNEL; /* The last one: a record of before such ticks. */
	for (size_t code = 0; code < codes; code++)
		if (columns[code].sample_count != count || columns[code].ns_count != count)
			return -EBADMSG;
	for (size_t i = 0; i < count && r == 0; i++) {
		struct cpu_context context = {.node = m->context_node[i]};

		for (size_t code = 0; code < codes; code++)
			context.code[code] =
			    (struct cpu_sum){columns[code].samples[i], columns[code].ns[i]};
		r = unpack_context(p, c, &context);
	}
	return r;
}

int record_unpack_cpu(const Jxp__StoredCpu *m, const struct profile *p, struct cpu_profile *c)
{
	int r;

	if (!m)
		return 0;
	if (m->n_state_samples != m->n_state_ns || m->n_state_samples > CPU_STATES ||
	    !is_time(m->gc_ns) || !is_time(m->jit_ns))
		return -EBADMSG;
	for (size_t i = 0; i < m->n_state_samples; i++) {
		c->states[i] = (struct cpu_sum){m->state_samples[i], m->state_ns[i]};
		if (!sum_is_valid(&c->states[i]))
			return -EBADMSG;
	}
	c->truncated = (struct cpu_sum){m->truncated_samples, m->truncated_ns};
	c->lost = (struct cpu_sum){m->lost_samples, m->lost_ns};
	if (!sum_is_valid(&c->truncated) || !sum_is_valid(&c->lost))
		return -EBADMSG;
	c->beside = (struct cpu_beside){m->span_ns, m->gc_ns, m->jit_ns};
	r = unpack_contexts(m, p, c);
	c->refused = m->refused;
	return r;
}

int record_unpack_threads(const Jxp__StoredCpu *m, struct thread_table *t)
{
	for (size_t i = 0; m && i < m->n_threads; i++) {
		const Jxp__StoredThread *from = m->threads[i];
		struct cpu_sum ticks = {from->samples, from->ns},
			       kernel = {from->kernel_samples, from->kernel_ns};
		int r = thread_table_update(t, from->tid, from->name, false);

		if (r == -ENOMEM)
			return r;
		if (r < 0 || t->count != i + 1 || !sum_is_valid(&ticks) || !sum_is_valid(&kernel))
			return -EBADMSG;
		t->threads[i].ticks = ticks;
		t->threads[i].kernel = kernel;
	}
	return 0;
}

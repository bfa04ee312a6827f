/* How good a report is, in text: what was lost and where, and what the window did to its JVM. */
#include "report/text_parts.h"

#include <inttypes.h>
#include <math.h>

#include "common/clock.h"
#include "proto/counters.h"

/* Lines for what rose beyond noise, and for what nothing is known of. */
static void side_effects(FILE *out, const struct report_model *m)
{
	const struct window_result *w = m->window;
	const struct side_effects *s = &w->side_effects;
	char line[SIDE_EFFECTS_LINE_BYTES];
	double since = m->quality.effects.figures[EFFECT_AFTER][EFFECT_COLLECTIONS];

	for (int e = 0; e < EFFECT_MAX; e++) {
		if (!s->rose[e])
			continue;
		side_effects_line(s, (enum effect)e, line);
		fprintf(out, "           %s %s\n", line,
			m->objects.tracked ? "while objects were tracked" : "in this window");
	}
	if (w->objects_off_ns)
		fprintf(out, "           %s\n", w->objects_refused);
	if (w->objects_off_ns && isfinite(since))
		fprintf(out, "           since then there were %.1f collections a second\n", since);
	if (s->count == 0 && s->reason[0])
		fprintf(out, "           what the window did to the JVM is not known: %s\n",
			s->reason);
}

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

struct figure {
	Jxp__Counter counter;
	const char *words;
};

/* One line of several counters, unless all are 0: windows of older agents do not say. */
static void figures(FILE *out, const uint64_t *counters, const char *title,
		    const struct figure *list, size_t count, bool seconds)
{
	const char *before = title;
	uint64_t any = 0;

	for (size_t i = 0; i < count; i++)
		any |= counters[list[i].counter];
	if (!any)
		return;
	for (size_t i = 0; i < count; i++) {
		uint64_t n = counters[list[i].counter];

		if (seconds)
			fprintf(out, "%s %.3f s %s", before, clock_s(n), list[i].words);
		else
			fprintf(out, "%s %" PRIu64 " %s", before, n, list[i].words);
		before = ",";
	}
	fputs("\n", out);
}

/* Writes what signals were for, and where a window's overhead went. */
static void account(FILE *out, const uint64_t *counters)
{
	static const struct figure signals[] = {
	    {JXP__COUNTER__COUNTER_SIGNALS_TICKS, "ticks"},
	    {JXP__COUNTER__COUNTER_SIGNALS_SEARCHES, "breakpoints of searches"},
	    {JXP__COUNTER__COUNTER_SIGNALS_SAMPLED, "sampled accesses"},
	    {JXP__COUNTER__COUNTER_SIGNALS_SECOND, "second accesses"},
	    {JXP__COUNTER__COUNTER_SIGNALS_LOOKS, "looks at what waits for long"},
	    {JXP__COUNTER__COUNTER_SIGNALS_STOPS, "stops before a tick"},
	    {JXP__COUNTER__COUNTER_SIGNALS_LATE, "late"},
	};
	static const struct figure handlers[] = {
	    {JXP__COUNTER__COUNTER_CONTEXTS_NS, "calling contexts"},
	    {JXP__COUNTER__COUNTER_CONTROLS_NS, "system calls"},
	    {JXP__COUNTER__COUNTER_CODE_NS, "decoding and walking code"},
	    {JXP__COUNTER__COUNTER_PLACING_NS, "finding objects"},
	};
	static const struct figure beside[] = {
	    {JXP__COUNTER__COUNTER_KERNEL_NS, "bringing signals"},
	    {JXP__COUNTER__COUNTER_SESSION_NS, "the agent's own thread"},
	    {JXP__COUNTER__COUNTER_IMAGES_NS, "sending code, a part of that"},
	    {JXP__COUNTER__COUNTER_EVENTS_NS, "the JVM's events"},
	    {JXP__COUNTER__COUNTER_BURST_NS, "counting loops' turns"},
	    {JXP__COUNTER__COUNTER_REGISTERS_NS, "registers that were on"},
	    {JXP__COUNTER__COUNTER_SWITCHES_NS, "events at context switches"},
	};
	static const struct figure registers[] = {
	    {JXP__COUNTER__COUNTER_ARMED_NS, "of the threads' CPU time"},
	};
	static const struct figure loops[] = {
	    {JXP__COUNTER__COUNTER_BURSTS, "bursts of turns"},
	    {JXP__COUNTER__COUNTER_BURST_HITS, "breakpoints in them"},
	    {JXP__COUNTER__COUNTER_TRACES, "traces of what turns go by"},
	    {JXP__COUNTER__COUNTER_READINGS, "readings of counters"},
	    {JXP__COUNTER__COUNTER_CODES_SENT, "compiled methods looked at"},
	};

	figures(out, counters, "           signals:", signals, COUNT(signals), false);
	figures(out, counters, "           in handlers:", handlers, COUNT(handlers), true);
	figures(out, counters, "           beside handlers:", beside, COUNT(beside), true);
	figures(out, counters, "           debug registers on:", registers, COUNT(registers), true);
	figures(out, counters, "           loops:", loops, COUNT(loops), false);
}

/* ---------------------------------------------------------------- in three lines */

static uint64_t attributed(const struct window_result *w)
{
	uint64_t all = 0;

	for (int i = CERTAINTY_NONE + 1; i < CERTAINTY_VALUES; i++)
		all += w->attributed[i];
	return all;
}

static void evidence(FILE *out, const struct window_result *w)
{
	const uint64_t *counters = w->counters;

	fprintf(out,
		"  evidence  %" PRIu64 " sampling ticks, of which %" PRIu64
		" led to accesses; %" PRIu64 " pairs of accesses\n",
		counters[JXP__COUNTER__COUNTER_TICKS], counters[JXP__COUNTER__COUNTER_SAMPLES],
		counters_pairs(counters));
}

/* How sure it is who made the sampled accesses. */
static void attribution(FILE *out, const struct window_result *w)
{
	static const struct {
		enum certainty certainty;
		const char *words;
	} parts[] = {
	    {CERTAINTY_EXACT, "told by the JVM"},
	    {CERTAINTY_CHECKED, "the only one that can have made it"},
	    {CERTAINTY_INFERRED, "the nearest of several"},
	    {CERTAINTY_METHOD, "inlined somewhere in the one named"},
	    {CERTAINTY_UNKNOWN, "of stacks and spills, which no bytecode names"},
	};
	uint64_t all = attributed(w);
	const char *before = "";

	fprintf(out, "  methods   of %" PRIu64 " accesses", all);
	for (size_t i = 0; i < COUNT(parts); i++) {
		uint64_t n = w->attributed[parts[i].certainty];

		if (n == 0)
			continue;
		fprintf(out, "%s %.0f%% %s", *before ? "," : ":", 100 * (double)n / (double)all,
			parts[i].words);
		before = ",";
	}
	fputc('\n', out);
}

static uint64_t beyond_limits(const struct window_result *w)
{
	uint64_t all = 0;

	for (int i = 0; i < LOSS_MAX; i++)
		all += w->losses[i];
	return all;
}

static uint64_t not_profiled(const uint64_t *counters)
{
	return counters[JXP__COUNTER__COUNTER_THREADS_FAILED] +
	       counters[JXP__COUNTER__COUNTER_THREADS_OVER_LIMIT] +
	       counters[JXP__COUNTER__COUNTER_THREADS_NO_DESCRIPTORS];
}

static void lost(FILE *out, const struct report_model *m)
{
	const struct {
		uint64_t count;
		const char *words;
	} parts[] = {
	    {not_profiled(m->window->counters), "threads, wholly or in part"},
	    {m->quality.dropped, "events on the way here"},
	    {beyond_limits(m->window), "left out by limits"},
	};
	bool any = false;

	fputs("  lost     ", out);
	for (size_t i = 0; i < COUNT(parts); i++) {
		if (parts[i].count == 0)
			continue;
		fprintf(out, "%s %" PRIu64 " %s", any ? "," : "", parts[i].count, parts[i].words);
		any = true;
	}
	fputs(any ? "\n" : " nothing\n", out);
}

void report_text_quality(FILE *out, const struct report_model *m)
{
	const struct window_result *w = m->window;

	fputs("\nQuality (all that is known: --view quality)\n", out);
	evidence(out, w);
	if (attributed(w) > 0)
		attribution(out, w);
	lost(out, m);
	side_effects(out, m);
}

/* ---------------------------------------------------------------- all of it */

/* How sure it is of ticks, which are told by accesses of the same instruction, or its shape. */
static void tick_attribution(FILE *out, const struct window_result *w)
{
	uint64_t told = w->ticks_attributed[CERTAINTY_EXACT] +
			w->ticks_attributed[CERTAINTY_CHECKED] +
			w->ticks_attributed[CERTAINTY_INFERRED];
	uint64_t all = told + w->ticks_attributed[CERTAINTY_UNKNOWN];

	if (all == 0)
		return;
	fprintf(out,
		"%10" PRIu64 " ticks in compiled methods: of %" PRIu64
		" the method is that of the nearest access, and of %" PRIu64
		" the next one that the JVM knows\n",
		all, told, w->ticks_attributed[CERTAINTY_UNKNOWN]);
}

void report_text_quality_whole(FILE *out, const struct report_model *m)
{
	const struct window_result *w = m->window;
	const uint64_t *counters = w->counters;

	fputs("Quality\n", out);
	if (w->agent_version[0])
		fprintf(out, "           agent of jxperf %s\n", w->agent_version);
	fprintf(
	    out,
	    "%10" PRIu64 " sampling ticks, of %.1f s of CPU time, led to %" PRIu64
	    " signals, %" PRIu64 " breakpoints on the way to an access and %.3f s in handlers\n",
	    counters[JXP__COUNTER__COUNTER_TICKS], clock_s(counters[JXP__COUNTER__COUNTER_TICK_NS]),
	    counters[JXP__COUNTER__COUNTER_SIGNALS], counters[JXP__COUNTER__COUNTER_HOPS],
	    clock_s(counters[JXP__COUNTER__COUNTER_HANDLER_NS]));
	account(out, counters);
	if (attributed(w) > 0)
		attribution(out, w);
	tick_attribution(out, w);
	for (size_t i = 0; i < JXP__COUNTER__COUNTER_MAX; i++) {
		uint64_t n = counters[counter_table[i].counter];

		if (n > 0 && counter_table[i].sentence)
			fprintf(out, "%10" PRIu64 " %s\n", n, counter_table[i].sentence);
	}
	for (int i = 0; i < LOSS_MAX; i++)
		if (w->losses[i] > 0)
			fprintf(out, "%10" PRIu64 " %s\n", w->losses[i], loss_words[i].sentence);
	if (w->findings.gate_reason[0])
		fprintf(out, "           samples beyond the budget cost a signal: %s\n",
			w->findings.gate_reason);
	side_effects(out, m);
	fprintf(out, "%10" PRIu64 " events were lost between a thread and this report\n",
		m->quality.dropped);
}

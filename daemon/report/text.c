/* The report for people, after figure 7 of the JXPerf paper: call paths root first, the instruction
 * on the leaf's line, the two accesses of a pair one below the other. */
#include "daemon/report/text.h"

#include <inttypes.h>
#include <string.h>

#include "common/clock.h"
#include "daemon/machine/sampler_choice.h"
#include "daemon/profile/estimate.h"
#include "daemon/report/report.h"
#include "daemon/report/side_effects_format.h"
#include "proto/limits.h"
#include "proto/words.h"

#define RULE_COLUMNS 80
#define WRAP_COLUMNS 100

static const struct {
	const char *heading;
	const char *separator;
} kind_words[PROFILE_KINDS] = {
    [JXP__KIND__KIND_DEAD_STORE] = {"Dead stores: stored, then overwritten without being read",
				    "OVERWRITTEN BY"},
    [JXP__KIND__KIND_SILENT_STORE] = {"Silent stores: the second store writes the value that is "
				      "already there",
				      "REDUNDANT WITH"},
    [JXP__KIND__KIND_SILENT_LOAD] = {"Silent loads: the second load reads the value that the "
				     "first one read",
				     "REDUNDANT WITH"},
};

static const struct {
	Jxp__Counter counter;
	const char *sentence;
} counter_sentences[] = {
    {JXP__COUNTER__COUNTER_TICKS_OUTSIDE,
     "ticks came in code that is not compiled Java, and are no samples"},
    {JXP__COUNTER__COUNTER_RESERVOIR_KEPT,
     "samples were given no debug register (reservoir sampling)"},
    {JXP__COUNTER__COUNTER_OVERLAPPED,
     "samples were skipped because a register watched their location already"},
    {JXP__COUNTER__COUNTER_IGNORED_STORES,
     "traps did not end the wait: a store where a load is waited for, a failed compare-and-swap"},
    {JXP__COUNTER__COUNTER_REPLACED,
     "armed watchpoints gave their register to a newer sample (reservoir sampling)"},
    {JXP__COUNTER__COUNTER_EXPIRED_GC, "watchpoints were dropped by a garbage collection"},
    {JXP__COUNTER__COUNTER_EXPIRED_WINDOW,
     "watchpoints saw no second access before their thread or the window ended"},
    {JXP__COUNTER__COUNTER_ABANDONED, "watchpoints were given up: the second access could not be "
				      "told, or too many others came first"},
    {JXP__COUNTER__COUNTER_SEARCHES_FAILED,
     "samples found no access of the wanted type within the search's bounds"},
    {JXP__COUNTER__COUNTER_SEARCHES_SUPERSEDED,
     "searches were overtaken by the next sample of their thread"},
    {JXP__COUNTER__COUNTER_UNWALKABLE, "calling contexts could not be walked by the JVM"},
    {JXP__COUNTER__COUNTER_TRUNCATED,
     "calling contexts were deeper than the limit and lost their root frames"},
    {JXP__COUNTER__COUNTER_CONTEXTS_FULL,
     "calling contexts were lost because the agent's table was full: use a shorter window"},
    {JXP__COUNTER__COUNTER_NAMES_LOST,
     "methods or instructions have no name: a class was unloaded first, or there were too many"},
    {JXP__COUNTER__COUNTER_CODE_DROPPED,
     "compiled methods, or their debug information, did not fit the agent's code map"},
    {JXP__COUNTER__COUNTER_RING_FULL,
     "events were lost because a thread's ring was full: use a longer period"},
    {JXP__COUNTER__COUNTER_UNDECODED,
     "traps were lost because their instruction or value could not be read"},
    {JXP__COUNTER__COUNTER_NOT_STORED,
     "samples were compare-and-swaps that failed, and so stored nothing"},
    {JXP__COUNTER__COUNTER_UNSUPPORTED,
     "samples were accesses that cannot be watched (gather, scatter, compress)"},
    {JXP__COUNTER__COUNTER_STACK_LOW, "samples were skipped in threads that were low on stack"},
    {JXP__COUNTER__COUNTER_ASYNC,
     "signals came late because the target blocked SIGTRAP, and were dropped"},
    {JXP__COUNTER__COUNTER_FOREIGN_SIGTRAPS,
     "SIGTRAPs were the application's own and were handed on to its handler"},
    {JXP__COUNTER__COUNTER_EVENT_ERRORS, "perf event controls failed in the target"},
    {JXP__COUNTER__COUNTER_RECORDS_LOST, "hardware samples were lost: the kernel had no room"},
    {JXP__COUNTER__COUNTER_RECORDS_MALFORMED, "times a ring of hardware samples was unreadable"},
    {JXP__COUNTER__COUNTER_RECORDS_MISSING, "signals of hardware events came without a sample"},
    {JXP__COUNTER__COUNTER_RECORDS_OVERTAKEN,
     "hardware samples were overtaken by a newer one of their thread"},
    {JXP__COUNTER__COUNTER_RECORDS_UNUSABLE,
     "hardware samples were no load or store, or lacked address or exact instruction"},
    {JXP__COUNTER__COUNTER_RECORDS_UNWANTED,
     "hardware samples were accesses of a type that was not asked for"},
    {JXP__COUNTER__COUNTER_RECORDS_SKIDDED,
     "hardware samples were dropped because their thread had left the method"},
    {JXP__COUNTER__COUNTER_THROTTLED,
     "times the kernel stopped a hardware event for a moment: use a smaller budget"},
    {JXP__COUNTER__COUNTER_ACCESSES, "memory accesses were sampled for objects"},
    {JXP__COUNTER__COUNTER_OBJECTS_SAMPLED, "allocations were sampled"},
    {JXP__COUNTER__COUNTER_OBJECTS_SMALL,
     "allocations were sampled and below the smallest size asked for"},
    {JXP__COUNTER__COUNTER_OBJECTS_MOVED, "addresses of tracked objects changed in collections"},
    {JXP__COUNTER__COUNTER_OBJECTS_DIED, "tracked objects died"},
    {JXP__COUNTER__COUNTER_OBJECTS_UNTRACKED,
     "objects were not tracked because the agent tracks no more at a time"},
    {JXP__COUNTER__COUNTER_OBJECTS_THINNED,
     "objects were left out at random as room for them ran short: others stand for them"},
    {JXP__COUNTER__COUNTER_OBJECTS_OVER_BYTES,
     "objects were not tracked because those that are might keep too much of the heap"},
    {JXP__COUNTER__COUNTER_OBJECTS_QUEUE_FULL,
     "allocations were lost because the agent's queue was full"},
    {JXP__COUNTER__COUNTER_PASSES_OVERTAKEN,
     "times a collection came before the objects of the last one were all found"},
    {JXP__COUNTER__COUNTER_GATE_PASSED, "samples passed the gate"},
    {JXP__COUNTER__COUNTER_GATE_WINDOW_OVER, "samples were dropped because the window was over"},
    {JXP__COUNTER__COUNTER_GATE_BUDGET_SPENT,
     "samples were dropped because they were more than twice what the period allows"},
    {JXP__COUNTER__COUNTER_GATE_CONTENDED,
     "samples were dropped because others came on many CPUs at the same time"},
    {JXP__COUNTER__COUNTER_GATE_UNATTACHED,
     "sampling events did not take the BPF gate: the agent took its place"},
    {JXP__COUNTER__COUNTER_THREADS_IDLE, "threads used too little CPU time to be profiled"},
    {JXP__COUNTER__COUNTER_THREADS_FAILED,
     "threads were not profiled because their events could not be opened"},
    {JXP__COUNTER__COUNTER_THREADS_OVER_LIMIT,
     "threads were not profiled because the agent's thread table was full"},
    {JXP__COUNTER__COUNTER_THREADS_NO_DESCRIPTORS,
     "threads were not profiled, or with fewer debug registers: the target has few descriptors "
     "left below its limit (RLIMIT_NOFILE), or a security module refused them"},
};

static const char *const loss_sentences[LOSS_MAX] = {
    [LOSS_METHODS] = "methods were beyond the daemon's limit and have no name",
    [LOSS_LINES] = "line tables were beyond the daemon's limit",
    [LOSS_NODES] = "frames were beyond the daemon's limit",
    [LOSS_INSTRUCTIONS] = "instructions were beyond the daemon's limit",
    [LOSS_STRINGS] = "names were beyond the daemon's limit and are shown empty",
    [LOSS_THREADS] = "events of threads beyond the daemon's limit are missing from 'threads'",
    [LOSS_PAIRS] = "pairs were beyond the daemon's limit: in the fractions, but not listed",
    [LOSS_UNKNOWN_IDS] = "references were to something that the agent never sent",
    [LOSS_REPEATED_IDS] = "definitions repeated an earlier one and were ignored",
    [LOSS_INVALID] = "events had a field out of range and were dropped",
    [LOSS_CLASSES] = "classes of objects were beyond the daemon's limit and have no name",
    [LOSS_OBJECTS] = "objects were beyond the daemon's limit: counted, but not tracked",
    [LOSS_SITES] = "objects were of allocation sites beyond the daemon's limit",
    [LOSS_SITE_ACCESSES] = "accesses to objects were from more contexts than are listed",
    [LOSS_OBJECT_ORDER] = "accesses were lost because too many events waited for their turn",
    [LOSS_POSITIONS] = "positions of objects were contradictory, late or too many",
    [LOSS_UNKNOWN_OBJECTS] = "positions or deaths were of objects that are not tracked",
    [LOSS_UNKNOWN_THREADS] =
	"requests for events were refused after many for threads that did not exist",
    [LOSS_FIRST_TOUCHES] = "first touches of pages were beyond what the kernel part remembers",
    [LOSS_OVERLAPS] = "objects were given up where a newer one was said to be",
};

void report_text_rule(FILE *out, const char *title)
{
	int left = (RULE_COLUMNS - (int)(title ? strlen(title) : 0)) / 2;

	for (int i = 0; i < RULE_COLUMNS; i++) {
		if (title && i == left) {
			fputs(title, out);
			i += (int)strlen(title) - 1;
		} else {
			fputc(title ? '*' : '-', out);
		}
	}
	fputc('\n', out);
}

/* Writes text in lines of at most WRAP_COLUMNS, broken at blanks. */
void report_text_wrapped(FILE *out, const char *text)
{
	size_t column = 0;

	while (*text) {
		size_t word = strcspn(text, " ");

		if (column > 0 && column + 1 + word > WRAP_COLUMNS) {
			fputc('\n', out);
			column = 0;
		}
		if (column > 0)
			fputc(' ', out);
		fprintf(out, "%.*s", (int)word, text);
		column += word + (column > 0);
		text += word;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

void report_text_frame(FILE *out, const struct profile *p, uint32_t id)
{
	const struct cct_node *node = cct_node(&p->cct, id);
	const struct cct_method *method = cct_method(&p->cct, node->method);
	const char *file;

	if (!method) {
		fputs("[frame without a name]", out);
		return;
	}
	file = strings_get(&p->strings, method->file);
	fprintf(out, "%s.%s(", strings_get(&p->strings, method->class_name),
		strings_get(&p->strings, method->name));
	if (node->tier == JXP__TIER__TIER_NATIVE)
		fputs("Native Method)", out);
	else if (node->line > 0)
		fprintf(out, "%s:%d)", file[0] ? file : "Unknown Source", node->line);
	else
		fprintf(out, "%s)", file[0] ? file : "Unknown Source");
}

void report_text_path(FILE *out, const struct profile *p, uint32_t leaf, const char *label)
{
	uint32_t path[MAX_FRAMES_LIMIT];
	size_t depth = 0;

	for (uint32_t id = leaf; id != 0; id = cct_node(&p->cct, id)->parent)
		path[depth++] = id; /* The tree admits no deeper path. */
	while (depth > 1 && !ferror(out)) {
		report_text_frame(out, p, path[--depth]);
		fputc('\n', out);
	}
	if (label)
		fprintf(out, "%s: ", label);
	if (leaf)
		report_text_frame(out, p, leaf);
	else
		fputs("[calling context unknown]", out);
	fputc('\n', out);
}

static void access_path(FILE *out, const struct profile *p, uint32_t leaf, uint32_t instruction)
{
	const char *text = strings_get(&p->strings, instruction);

	report_text_path(out, p, leaf, text[0] ? text : "[instruction unknown]");
}

/* The period asked for, and the one that the budget led to. */
static void period(FILE *out, const struct window_result *w)
{
	bool operations = w->findings.event_count > 0;
	const char *unit = operations ? "million operations" : "ms";
	double scale = operations ? 1e6 : (double)NS_PER_MS;
	uint64_t asked = w->findings.period;

	fprintf(out, "period %g %s", (double)asked / scale, unit);
	if (w->effective_period > asked)
		fprintf(out, " (%.1f %s in the end, to keep the budget)",
			(double)w->effective_period / scale, unit);
}

static double seconds(uint64_t ns)
{
	return (double)ns / (double)NS_PER_S;
}

/* In seconds, and as a fraction where the target did enough for one to mean something. */
static void overhead(FILE *out, const struct window_result *w)
{
	uint64_t own_ns = w->cpu_ns > w->overhead_ns ? w->cpu_ns - w->overhead_ns : 0;

	if (w->cpu_ns == 0)
		fputs("overhead not known", out);
	else if (window_result_target_was_idle(w))
		fprintf(out, "overhead %.3f s of CPU time; the JVM was idle, it used %.3f s itself",
			seconds(w->overhead_ns), seconds(own_ns));
	else
		fprintf(out, "overhead %.2f%%: %.3f s of the JVM's %.1f s of CPU time",
			window_result_overhead_fraction(w) * 100, seconds(w->overhead_ns),
			seconds(w->cpu_ns));
	fprintf(out, " (and %.3f s to begin)\n", seconds(w->setup_ns));
}

static void header(FILE *out, const struct window_result *w)
{
	const struct window_findings *f = &w->findings;
	char start[REPORT_TIME_BYTES];

	report_time(start, w->start_unix_ns);
	fprintf(out, "window %s: %s (pid %d), %s %s, %s collector\n", w->id, w->app, (int)w->pid,
		w->vm[0] ? w->vm : "JVM", w->jdk, w->gc[0] ? w->gc : "unknown");
	fprintf(out, "began %s, %.1f s of %.1f s, %s%s%s\n", start,
		(double)window_result_elapsed_ns(w) / (double)NS_PER_S,
		(double)w->request.duration_ns / (double)NS_PER_S, window_result_state_name(w),
		w->reason[0] ? ": " : "", w->reason);
	fprintf(out, "sampler %s (%s)\n", name_of_sampler(f->sampler), f->sampler_reason);
	period(out, w);
	fprintf(out, ", budget %g%%, %u debug registers\n", w->request.budget * 100,
		w->request.registers);
	fprintf(out,
		"%" PRIu64 " samples, %" PRIu64 " watchpoints armed, %" PRIu64
		" pairs completed, %" PRIu64 " threads\n",
		w->counters[JXP__COUNTER__COUNTER_SAMPLES],
		w->counters[JXP__COUNTER__COUNTER_ARMED], w->counters[JXP__COUNTER__COUNTER_TRAPS],
		w->counters[JXP__COUNTER__COUNTER_THREADS]);
	overhead(out, w);
	if (sampler_note(f->sampler))
		report_text_wrapped(out, sampler_note(f->sampler));
	fputc('\n', out);
}

static void summary(FILE *out, const struct window_result *w)
{
	fprintf(out, "%-14s %9s   %-17s %14s %14s %16s\n", "kind", "fraction", "95% interval",
		"wasteful bytes", "checked bytes", "JVM's own bytes");
	for (int kind = 1; kind < PROFILE_KINDS; kind++) {
		const struct totals *t = &w->profile.kinds[kind].application;
		struct interval ci = estimate_ci95(
		    (double)t->wasteful_bytes, (double)t->checked_bytes, (double)t->sum_squares);
		char fraction[16] = "-", interval[32];

		if (!w->request.kinds[kind])
			continue;
		if (t->count > 0)
			(void)snprintf(fraction, sizeof(fraction), "%.1f%%",
				       100 * estimate_fraction((double)t->wasteful_bytes,
							       (double)t->checked_bytes));
		(void)snprintf(interval, sizeof(interval), "%.1f%% to %.1f%%", 100 * ci.low,
			       100 * ci.high);
		fprintf(out, "%-14s %9s   %-17s %14" PRIu64 " %14" PRIu64 " %16" PRIu64 "\n",
			title_of_kind((Jxp__Kind)kind), fraction, interval, t->wasteful_bytes,
			t->checked_bytes, w->profile.kinds[kind].jvm.checked_bytes);
	}
	fputs("JVM's own: accesses to the virtual machine's memory, kept apart from the "
	      "fractions.\n",
	      out);
}

static void pair(FILE *out, const struct window_result *w, const struct ranked_pair *ranked,
		 size_t rank)
{
	const struct pair *p = &ranked->sum;
	const struct totals *t = &w->profile.kinds[p->kind].application;

	report_text_rule(out, NULL);
	fprintf(out,
		"#%zu  %.1f%% of checked bytes: %" PRIu64 " wasteful bytes in %" PRIu64
		" of %" PRIu64 " pairs, %s",
		rank, 100 * estimate_fraction((double)p->wasteful_bytes, (double)t->checked_bytes),
		p->wasteful_bytes, p->wasteful_count, p->count,
		name_of_region((Jxp__Region)p->region));
	if (ranked->variants > 1)
		fprintf(out, "; the first of %zu instruction pairs is shown", ranked->variants);
	fputc('\n', out);
	access_path(out, &w->profile, p->watch_node, p->watch_instruction);
	report_text_rule(out, kind_words[p->kind].separator);
	access_path(out, &w->profile, p->trap_node, p->trap_instruction);
}

static int pairs_of_kind(FILE *out, const struct window_result *w, Jxp__Kind kind, size_t limit)
{
	struct ranking ranking;
	int r = ranking_init(&ranking, &w->profile, kind);
	size_t shown;

	if (r < 0)
		return r;
	fprintf(out, "\n%s\n", kind_words[kind].heading);
	shown = ranking.count < limit ? ranking.count : limit;
	for (size_t i = 0; i < shown && !ferror(out); i++)
		pair(out, w, &ranking.pairs[i], i + 1);
	if (shown > 0)
		report_text_rule(out, NULL);
	if (ranking.count == 0)
		fputs("none found\n", out);
	else if (shown < ranking.count)
		fprintf(out, "%zu more pairs are not shown\n", ranking.count - shown);
	ranking_release(&ranking);
	return 0;
}

static void quality(FILE *out, const struct window_result *w)
{
	const uint64_t *counters = w->counters;

	fputs("\nQuality\n", out);
	fprintf(out,
		"%10" PRIu64 " sampling ticks led to %" PRIu64 " signals, %" PRIu64
		" breakpoints on the way to an access and %.3f s in handlers\n",
		counters[JXP__COUNTER__COUNTER_TICKS], counters[JXP__COUNTER__COUNTER_SIGNALS],
		counters[JXP__COUNTER__COUNTER_HOPS],
		seconds(counters[JXP__COUNTER__COUNTER_HANDLER_NS]));
	for (size_t i = 0; i < sizeof(counter_sentences) / sizeof(counter_sentences[0]); i++) {
		uint64_t n = w->counters[counter_sentences[i].counter];

		if (n > 0)
			fprintf(out, "%10" PRIu64 " %s\n", n, counter_sentences[i].sentence);
	}
	for (int i = 0; i < LOSS_MAX; i++)
		if (w->losses[i] > 0)
			fprintf(out, "%10" PRIu64 " %s\n", w->losses[i], loss_sentences[i]);
	if (w->findings.gate_reason[0])
		fprintf(out, "           samples beyond the budget cost a signal: %s\n",
			w->findings.gate_reason);
	report_side_effects_text(out, w);
	fprintf(out, "%10" PRIu64 " events were lost between a thread and this report\n",
		window_result_dropped(w));
}

int report_text_write(FILE *out, const struct window_result *w, size_t pairs)
{
	header(out, w);
	if (window_result_samples_pairs(w))
		summary(out, w);
	for (int kind = 1; kind < PROFILE_KINDS; kind++) {
		int r = w->request.kinds[kind] ? pairs_of_kind(out, w, (Jxp__Kind)kind, pairs) : 0;

		if (r < 0)
			return r;
	}
	if (window_result_tracks_objects(w)) {
		int r;

		if (window_result_samples_pairs(w))
			fputc('\n', out);
		r = report_text_objects(out, w, pairs);

		if (r < 0)
			return r;
	}
	if (w->request.numa) {
		int r;

		fputc('\n', out);
		r = report_text_numa(out, w);
		if (r < 0)
			return r;
	}
	quality(out, w);
	return 0;
}

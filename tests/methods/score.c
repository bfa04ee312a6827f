/*
 * A daemon that holds what it says of accesses against what the JVM says: of code that was compiled
 * with debug information everywhere (-XX:+DebugNonSafepoints), which the rule does not get to see.
 *
 * The linker puts these in the place of attribution_make and attribution_find. Each code is made
 * three times: as its records at safepoints have it, which is what the daemon goes on with; the
 * same without null checks; and with everything, for the truth. What is found is counted in the
 * file JXPERF_SCORE, which is made for `struct score`, by all of the daemon's threads under a lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/array.h"
#include "profile/intake/attribution_intake.h"
#include "profile/intake/tick_intake.h"
#include "profile/window/result.h"
#include "tests/methods/score.h"

#define CODES_MAX 4096u

static int wrong_fd = -1;             /* of the file JXPERF_SCORE_WRONG: a line for each */
static const struct profile *profile; /* whose methods the codes' are */
static struct truth truths[CODES_MAX];
static unsigned truth_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The linker's names. NOLINTBEGIN(bugprone-reserved-identifier) */
int __real_attribution_make(struct attribution *a, struct code_image *image,
			    const struct attribution_options *options);
int __wrap_attribution_make(struct attribution *a, struct code_image *image,
			    const struct attribution_options *options);
int __real_attribution_find(const struct attribution *a, uint32_t offset,
			    const struct attribution_access *access,
			    struct attribution_answer *answer);
int __wrap_attribution_find(const struct attribution *a, uint32_t offset,
			    const struct attribution_access *access,
			    struct attribution_answer *answer);
unsigned __real_attribution_match(const struct attribution *a, const struct instance_call *path,
				  unsigned count);
unsigned __wrap_attribution_match(const struct attribution *a, const struct instance_call *path,
				  unsigned count);
int __real_attribution_intake_analysed(struct attribution_intake *in, uint32_t code, int error,
				       struct attribution *attribution);
int __wrap_attribution_intake_analysed(struct attribution_intake *in, uint32_t code, int error,
				       struct attribution *attribution);
int __real_tick_intake_finish(struct tick_intake *in);
int __wrap_tick_intake_finish(struct tick_intake *in);
int __real_array_reserve_within(void *items, size_t *capacity, size_t wanted, size_t limit,
				size_t size);
int __wrap_array_reserve_within(void *items, size_t *capacity, size_t wanted, size_t limit,
				size_t size);

static struct score *score(void)
{
	static struct score *mapped;
	const char *path = getenv("JXPERF_SCORE");
	int fd;

	if (mapped || !path)
		return mapped;
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		mapped = mmap(NULL, sizeof(*mapped), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		(void)close(fd);
	if (mapped == MAP_FAILED)
		mapped = NULL;
	return mapped;
}

/* Before the daemon gives up what it needs for that. */
__attribute__((constructor)) static void open_score(void)
{
	const char *path = getenv("JXPERF_SCORE_WRONG");

	(void)score();
	if (path)
		wrong_fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
}

#define COPY(field, count) \
	(r = r < 0 ? r : array_copy(&to->field, from->field, from->count, sizeof(*from->field)))

/* 0 or -ENOMEM; to is to be released either way. */
static int copy_image(const struct code_image *from, struct code_image *to)
{
	int r = 0;

	*to = (struct code_image){.code = from->code,
				  .start = from->start,
				  .size = from->size,
				  .method = from->method,
				  .method_count = from->method_count,
				  .record_count = from->record_count,
				  .frame_count = from->frame_count,
				  .call_count = from->call_count,
				  .bytecode_bytes = from->bytecode_bytes,
				  .null_check_count = from->null_check_count,
				  .member_count = from->member_count,
				  .text_bytes = from->text_bytes,
				  .reference_count = from->reference_count,
				  .target_count = from->target_count};
	COPY(bytes, size);
	COPY(methods, method_count);
	COPY(records, record_count);
	COPY(frames, frame_count);
	COPY(calls, call_count);
	COPY(bytecodes, bytecode_bytes);
	COPY(null_checks, null_check_count);
	COPY(members, member_count);
	COPY(texts, text_bytes);
	COPY(references, reference_count);
	COPY(targets, target_count);
	return r;
}

static int make_copy(struct attribution *a, const struct code_image *image,
		     const struct attribution_options *options)
{
	struct code_image own;
	int r = copy_image(image, &own);

	if (r == 0)
		r = __real_attribution_make(a, &own, options);
	code_image_release(&own);
	return r;
}

int __wrap_attribution_make(struct attribution *a, struct code_image *image,
			    const struct attribution_options *options)
{
	const struct attribution_options hidden = {.ignore_dense = true},
					 blind = {.ignore_dense = true, .ignore_null_checks = true},
					 none = {0};
	struct truth t = {0};
	bool known;
	int r;

	(void)options; /* The daemon's: all that there is. */
	known = make_copy(&t.all, image, &none) == 0 && make_copy(&t.blind, image, &blind) == 0 &&
		make_copy(&t.hidden, image, &hidden) == 0 && copy_image(image, &t.image) == 0;
	r = __real_attribution_make(a, image, &hidden);
	t.of = a->places;
	(void)pthread_mutex_lock(&lock);
	if (r == 0 && known && truth_count < CODES_MAX)
		truths[truth_count++] = t;
	else if (score())
		score()->lost++;
	(void)pthread_mutex_unlock(&lock);
	return r;
}

static struct truth *truth_of(const struct attribution *a)
{
	for (unsigned i = 0; i < truth_count; i++)
		if (truths[i].of == a->places)
			return &truths[i];
	return NULL;
}

static const struct attribution_place *place_of(const struct attribution *a, uint32_t offset)
{
	for (size_t i = 0; i < a->place_count; i++)
		if (a->places[i].offset == offset)
			return &a->places[i];
	return NULL;
}

static enum group group_of(const struct attribution_access *access)
{
	if (access->kind == JXP__LOCATION__KIND__ELEMENT)
		return GROUP_ELEMENT;
	if (access->kind != JXP__LOCATION__KIND__HEADER)
		return GROUP_FIELD;
	return strcmp(access->field, "length") == 0  ? GROUP_LENGTH
	       : strcmp(access->field, "class") == 0 ? GROUP_CLASS
						     : GROUP_MARK;
}

static enum access_fit fit_of(const struct attribution *a, const struct instance_call *c,
			      const struct attribution_access *access)
{
	return c->bci < 0 ? ACCESS_FIT_NONE
			  : access_bytecode_fits(&a->image, c->method, (uint32_t)c->bci, access);
}

static bool fits(const struct attribution *a, const struct instance_call *c,
		 const struct attribution_access *access)
{
	return fit_of(a, c, access) != ACCESS_FIT_NONE;
}

/* Of an access that the bytecode at place made. */
static enum group true_group(const struct attribution *truth, struct instance_place place,
			     const struct attribution_access *access)
{
	struct instance_call calls[INSTANCE_DEPTH_MAX];
	unsigned count;

	if (place.instance == INSTANCE_NONE)
		return group_of(access);
	count = instances_chain(&truth->instances, place, calls);
	return count > 0 && fit_of(truth, &calls[count - 1], access) == ACCESS_FIT_PERHAPS
		   ? GROUP_OTHER
		   : group_of(access);
}

enum outcome compare_chains(const struct instance_call *right, unsigned right_count,
			    const struct instance_call *said, unsigned said_count)
{
	if (said_count == 0)
		return NOT_NAMED;
	if (said[said_count - 1].method != right[right_count - 1].method)
		return WRONG;
	if (said_count != right_count)
		return RIGHT_METHOD;
	for (unsigned i = 0; i + 1 < right_count; i++)
		if (said[i].method != right[i].method || said[i].bci != right[i].bci)
			return RIGHT_METHOD;
	return said[said_count - 1].bci == right[right_count - 1].bci ? RIGHT_BYTECODE
								      : RIGHT_CALLS;
}

/* The entry of a line table that a bytecode lies in; -1: none. */
static int64_t entry_of(const struct method_intake *in, const struct intake_method *m, int32_t bci)
{
	int64_t found = -1;

	for (uint32_t i = 0; i < m->line_count; i++)
		if (in->lines[m->first_line + i].bci <= bci)
			found = i;
	return found;
}

enum line_outcome compare_lines(const struct truth *t, struct instance_call right,
				struct instance_call said)
{
	const struct method_intake *in = t->methods;
	const struct intake_method *m = &in->announced[t->announced[right.method]];
	int64_t at = entry_of(in, m, right.bci), named = entry_of(in, m, said.bci);

	if (at < 0)
		return LINE_NO_TABLE;
	if (said.method != right.method || named < 0)
		return LINE_WRONG;
	if (in->lines[m->first_line + at].line == in->lines[m->first_line + named].line)
		return LINE_SAME;
	return labs(at - named) == 1 ? LINE_STATEMENT : LINE_WRONG;
}

/* Of an access that the JVM tells, whatever came of it. */
static enum line_outcome line_of(const struct truth *t, struct instance_place place,
				 const struct attribution_answer *answer)
{
	struct instance_call calls[INSTANCE_DEPTH_MAX], none = {UINT32_MAX, -1};
	unsigned count = instances_chain(&t->all.instances, place, calls);

	return compare_lines(t, calls[count - 1],
			     answer->count > 0 ? answer->calls[answer->count - 1] : none);
}

static enum outcome compare(const struct attribution *truth, struct instance_place place,
			    const struct attribution_access *access,
			    const struct attribution_answer *answer)
{
	struct instance_call calls[INSTANCE_DEPTH_MAX];
	unsigned count;

	if (place.instance == INSTANCE_NONE)
		return NOT_SAID;
	count = instances_chain(&truth->instances, place, calls);
	if (count == 0 || !fits(truth, &calls[count - 1], access))
		return NOT_SAID;
	if (answer->certainty == CERTAINTY_UNKNOWN || answer->certainty == CERTAINTY_METHOD)
		return NOT_NAMED;
	return compare_chains(calls, count, answer->calls, answer->count);
}

static void print_calls(FILE *out, const struct attribution *a, const struct instance_call *calls,
			unsigned count)
{
	for (unsigned i = count; i-- > 0;) {
		const struct cct_method *m =
		    cct_method(&profile->cct, a->image.methods[calls[i].method].name);

		fprintf(out, " %s.%s@%d", m ? strings_get(&profile->strings, m->class_name) : "",
			m ? strings_get(&profile->strings, m->name) : "", calls[i].bci);
	}
}

/* What, who made it, and who is said to have, innermost first. */
static void tell_wrong(const struct truth *t, const struct attribution_place *all,
		       const struct attribution_access *access,
		       const struct attribution_answer *answer)
{
	struct instance_call calls[INSTANCE_DEPTH_MAX];
	unsigned count = instances_chain(&t->all.instances, all->dense, calls);
	char *text = NULL;
	size_t size = 0;
	FILE *out = wrong_fd >= 0 && profile ? open_memstream(&text, &size) : NULL;

	if (!out)
		return;
	fprintf(out, "%s %s%s of %s %s, %s:", certainty_name(answer->certainty),
		access->loads ? "load" : "", access->stores ? "store" : "",
		access->declared_in[0] ? access->declared_in : access->class_name, access->field,
		all->null_check.instance == INSTANCE_NONE ? "unchecked" : "null check");
	print_calls(out, &t->all, calls, count);
	fprintf(out, " |");
	print_calls(out, &t->all, answer->calls, answer->count);
	fprintf(out, "\n");
	if (fclose(out) == 0)
		(void)!write(wrong_fd, text, size); /* Or a line is missing. */
	free(text);
}

static void hold(struct score *s, const struct truth *t, uint32_t offset,
		 const struct attribution_access *access, const struct attribution_answer *answer)
{
	const struct attribution_place *all = place_of(&t->all, offset);
	enum group group;
	struct attribution_answer blind;
	enum outcome outcome;

	if (!all || !access_bytecodes_tell(access))
		return;
	group = true_group(&t->all, all->dense, access);
	outcome = compare(&t->all, all->dense, access, answer);
	if (outcome == WRONG && compare(&t->all, all->null_check, access, answer) < EITHER)
		outcome = EITHER;
	if (outcome == WRONG)
		tell_wrong(t, all, access, answer);
	s->dense[group][outcome]++;
	if (outcome != NOT_SAID && t->announced)
		s->lines[group]
			[line_of(t, outcome == EITHER ? all->null_check : all->dense, answer)]++;
	s->certainty[answer->certainty][outcome]++;
	if (answer->certainty != CERTAINTY_UNKNOWN && answer->certainty != CERTAINTY_METHOD &&
	    !fits(&t->all, &answer->calls[answer->count - 1], access))
		s->impossible++;
	if (all->null_check.instance != INSTANCE_NONE &&
	    __real_attribution_find(&t->blind, offset, access, &blind) == 0)
		s->null_check[true_group(&t->all, all->null_check, access)]
			     [compare(&t->all, all->null_check, access, &blind)]++;
}

int __wrap_attribution_find(const struct attribution *a, uint32_t offset,
			    const struct attribution_access *access,
			    struct attribution_answer *answer)
{
	int r = __real_attribution_find(a, offset, access, answer);
	const struct truth *truth;

	(void)pthread_mutex_lock(&lock);
	truth = truth_of(a);
	if (r == 0 && score() && truth)
		hold(score(), truth, offset, access, answer);
	(void)pthread_mutex_unlock(&lock);
	return r;
}

/* The agent has the calls of dense records, which the daemon's code does not have. */
unsigned __wrap_attribution_match(const struct attribution *a, const struct instance_call *path,
				  unsigned count)
{
	const struct truth *truth;
	unsigned matched;

	(void)pthread_mutex_lock(&lock);
	truth = truth_of(a);
	matched = __real_attribution_match(truth ? &truth->all : a, path, count);
	(void)pthread_mutex_unlock(&lock);
	return matched;
}

int __wrap_attribution_intake_analysed(struct attribution_intake *in, uint32_t code, int error,
				       struct attribution *attribution)
{
	struct truth *t;

	profile = &in->result->profile;
	(void)pthread_mutex_lock(&lock);
	t = error == 0 ? truth_of(attribution) : NULL;
	if (t) {
		size_t count = attribution->image.method_count;

		t->number = in->codes[code].is.number;
		t->methods = in->methods;
		if (array_copy(&t->announced, in->codes[code].is.announced, count,
			       sizeof(*t->announced)) < 0)
			t->announced = NULL;
	}
	(void)pthread_mutex_unlock(&lock);
	return __real_attribution_intake_analysed(in, code, error, attribution);
}

/* All ticks of a code, which is taken apart for them. */
static uint64_t score_code(struct score *s, const struct tick_intake *in, const struct truth *t)
{
	struct native_code n;
	uint64_t count = 0;

	if (native_code_make(&n, &t->image) < 0)
		return 0;
	for (size_t i = 0; i < in->place_count; i++) {
		const struct tick_place *p = &in->places[i];

		if (p->key.code != t->number)
			continue;
		count += p->sum.samples;
		score_ticks(s, t, &n, p->key.offset, p->sum.samples);
	}
	native_code_release(&n);
	return count;
}

static bool is_first(unsigned of)
{
	for (unsigned i = 0; i < of; i++)
		if (truths[i].number == truths[of].number)
			return false;
	return true;
}

int __wrap_tick_intake_finish(struct tick_intake *in)
{
	int r = __real_tick_intake_finish(in);
	uint64_t missing = 0;

	(void)pthread_mutex_lock(&lock);
	for (size_t i = 0; i < in->place_count; i++)
		missing += in->places[i].sum.samples;
	for (unsigned i = 0; i < truth_count; i++)
		if (score() && truths[i].number && truths[i].announced && is_first(i))
			missing -= score_code(score(), in, &truths[i]);
	if (score())
		score()->tick_codes_missing += missing;
	(void)pthread_mutex_unlock(&lock);
	return r;
}

/* Nothing that was told is kept, so that what is asked for often counts as often. */
int __wrap_array_reserve_within(void *items, size_t *capacity, size_t wanted, size_t limit,
				size_t size)
{
	if (limit == ATTRIBUTION_TOLD_MAX)
		return -ENOSPC;
	return __real_array_reserve_within(items, capacity, wanted, limit, size);
}
/* NOLINTEND(bugprone-reserved-identifier) */

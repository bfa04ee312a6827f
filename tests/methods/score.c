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
#include "daemon/attribution/attribution.h"
#include "daemon/intake/attribution_intake.h"
#include "daemon/window/result.h"

#define CODES_MAX 4096u

enum group {
	GROUP_FIELD,
	GROUP_ELEMENT,
	GROUP_LENGTH,
	GROUP_CLASS,
	GROUP_MARK,
	GROUP_OTHER, /* by the JVM a call, of which the compiler has code of its own, or an
			allocation */
	GROUPS,
};

/* Of one access. */
enum outcome {
	RIGHT_BYTECODE, /* with all calls that lead to it */
	RIGHT_CALLS,    /* another bytecode of the same call */
	RIGHT_METHOD,   /* called by others */
	EITHER, /* right by the null check, which names another than the record does: merged */
	WRONG,
	NOT_NAMED,
	NOT_SAID, /* the JVM says nothing of it, or what cannot have made it */
	OUTCOMES,
};

/* tests/methods/score.py reads it. */
struct score {
	uint64_t dense[GROUPS][OUTCOMES];
	uint64_t null_check[GROUPS][OUTCOMES];
	uint64_t certainty[CERTAINTY_VALUES][OUTCOMES]; /* of dense: by enum certainty */
	uint64_t impossible; /* answers whose bytecode cannot have made the access */
	uint64_t lost;       /* codes without a truth */
};

struct truth {
	const struct attribution_place *of; /* the places of what the daemon goes on with */
	struct attribution all, blind;
};

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
	known = make_copy(&t.all, image, &none) == 0 && make_copy(&t.blind, image, &blind) == 0;
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

static const struct truth *truth_of(const struct attribution *a)
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
	if (answer->calls[answer->count - 1].method != calls[count - 1].method)
		return WRONG;
	if (answer->count != count)
		return RIGHT_METHOD;
	for (unsigned i = 0; i + 1 < count; i++)
		if (answer->calls[i].method != calls[i].method ||
		    answer->calls[i].bci != calls[i].bci)
			return RIGHT_METHOD;
	return answer->calls[count - 1].bci == calls[count - 1].bci ? RIGHT_BYTECODE : RIGHT_CALLS;
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
	profile = &in->result->profile;
	return __real_attribution_intake_analysed(in, code, error, attribution);
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

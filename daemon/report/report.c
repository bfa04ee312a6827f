#include "daemon/report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/cleanup.h"
#include "common/clock.h"

/* Of a report's memory, which doubles. */
#define FIRST_BYTES ((size_t)4096)

struct format {
	int (*write)(FILE *out, const struct window_result *w, size_t pairs); /* NULL: not there */
	size_t default_pairs;
};

static const struct format *find_format(Jxp__Format format)
{
	static const struct format formats[] = {
	    [JXP__FORMAT__FORMAT_TEXT] = {report_text_write, 10},
	    [JXP__FORMAT__FORMAT_JSON] = {report_json_write, 1000},
	    [JXP__FORMAT__FORMAT_COLLAPSED] = {report_collapsed_write, 10000},
	    [JXP__FORMAT__FORMAT_PPROF] = {NULL, 0},
	};

	if ((unsigned)format >= sizeof(formats) / sizeof(formats[0]) || !formats[format].write)
		return NULL;
	return &formats[format];
}

int report_check_format(Jxp__Format format, struct err *err)
{
	if (find_format(format))
		return 0;
	return err_set(err, EOPNOTSUPP,
		       "%s reports are not available: use --format text, json or collapsed",
		       format == JXP__FORMAT__FORMAT_PPROF ? "pprof" : "such");
}

/* By calling contexts; of one context, the most wasteful first, then in the order of arrival. */
static int compare_contexts(const void *a, const void *b)
{
	const struct pair *x = *(const struct pair *const *)a;
	const struct pair *y = *(const struct pair *const *)b;

	if (x->watch_node != y->watch_node)
		return x->watch_node < y->watch_node ? -1 : 1;
	if (x->trap_node != y->trap_node)
		return x->trap_node < y->trap_node ? -1 : 1;
	if (x->wasteful_bytes != y->wasteful_bytes)
		return x->wasteful_bytes > y->wasteful_bytes ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int compare_waste(const void *a, const void *b)
{
	const struct pair *x = &((const struct ranked_pair *)a)->sum;
	const struct pair *y = &((const struct ranked_pair *)b)->sum;

	if (x->wasteful_bytes != y->wasteful_bytes)
		return x->wasteful_bytes > y->wasteful_bytes ? -1 : 1;
	if (x->checked_bytes != y->checked_bytes)
		return x->checked_bytes > y->checked_bytes ? -1 : 1;
	if (x->watch_node != y->watch_node) /* qsort is not stable: contexts decide. */
		return x->watch_node < y->watch_node ? -1 : 1;
	return x->trap_node < y->trap_node ? -1 : x->trap_node > y->trap_node;
}

static void add_variant(struct ranked_pair *to, const struct pair *variant)
{
	to->sum.count += variant->count;
	to->sum.wasteful_count += variant->wasteful_count;
	to->sum.checked_bytes += variant->checked_bytes;
	to->sum.wasteful_bytes += variant->wasteful_bytes;
	to->variants++;
}

/* Entries come sorted by context, so those of one pair are neighbours. */
static void merge_variants(struct ranking *r, const struct pair *const *sorted, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct ranked_pair *last = r->count ? &r->pairs[r->count - 1] : NULL;

		if (last && last->sum.watch_node == sorted[i]->watch_node &&
		    last->sum.trap_node == sorted[i]->trap_node) {
			add_variant(last, sorted[i]);
			continue;
		}
		if (last && last->sum.wasteful_bytes == 0)
			r->count--; /* Nothing wasted: not ranked. */
		r->pairs[r->count++] = (struct ranked_pair){.sum = *sorted[i], .variants = 1};
	}
	if (r->count && r->pairs[r->count - 1].sum.wasteful_bytes == 0)
		r->count--;
}

int ranking_init(struct ranking *r, const struct profile *p, Jxp__Kind kind)
{
	_cleanup_free_ const struct pair **sorted = NULL;
	size_t count = 0;

	*r = (struct ranking){0};
	if (p->pair_count == 0)
		return 0;
	sorted = calloc(p->pair_count, sizeof(const struct pair *));
	r->pairs = calloc(p->pair_count, sizeof(*r->pairs));
	if (!sorted || !r->pairs) {
		ranking_release(r);
		return -ENOMEM;
	}
	for (size_t i = 0; i < p->pair_count; i++)
		if (p->pairs[i].kind == kind)
			sorted[count++] = &p->pairs[i];
	qsort(sorted, count, sizeof(const struct pair *), compare_contexts);
	merge_variants(r, sorted, count);
	qsort(r->pairs, r->count, sizeof(*r->pairs), compare_waste);
	return 0;
}

void ranking_release(struct ranking *r)
{
	free(r->pairs);
	*r = (struct ranking){0};
}

void report_time(char text[REPORT_TIME_BYTES], uint64_t unix_ns)
{
	time_t seconds = (time_t)(unix_ns / NS_PER_S);
	unsigned ms = (unsigned)(unix_ns % NS_PER_S / NS_PER_MS);
	struct tm utc = {0};
	size_t used;

	(void)gmtime_r(&seconds, &utc); /* Fails only for years beyond an int. */
	used = strftime(text, REPORT_TIME_BYTES, "%Y-%m-%dT%H:%M:%S", &utc);
	(void)snprintf(text + used, REPORT_TIME_BYTES - used, ".%03uZ", ms);
}

/* Where a report is written to: memory that never grows beyond what may be sent. */
struct sink {
	char *text; /* size bytes and a NUL */
	size_t size;
	size_t capacity; /* without the NUL */
	size_t max;
	int error; /* of the first write that failed */
	const atomic_bool *cancelled;
};

static bool sink_reserve(struct sink *s, size_t size)
{
	size_t capacity = s->capacity ? s->capacity : FIRST_BYTES;
	char *grown;

	while (capacity < size)
		capacity *= 2;
	if (s->text && capacity == s->capacity)
		return true;
	grown = realloc(s->text, capacity + 1);
	if (!grown)
		return false;
	s->text = grown;
	s->capacity = capacity;
	return true;
}

static ssize_t sink_write(void *cookie, const char *bytes, size_t size)
{
	struct sink *s = cookie;

	if (s->error == 0 && s->cancelled && atomic_load(s->cancelled))
		s->error = -ECANCELED;
	else if (s->error == 0 && size > s->max - s->size)
		s->error = -EMSGSIZE;
	else if (s->error == 0 && !sink_reserve(s, s->size + size))
		s->error = -ENOMEM;
	if (s->error < 0)
		return 0; /* fopencookie's failure. */
	memcpy(s->text + s->size, bytes, size);
	s->size += size;
	s->text[s->size] = '\0';
	return (ssize_t)size;
}

/* 0, -EMSGSIZE when it would have more than max_bytes, -ECANCELED or -ENOMEM. */
static int write_once(const atomic_bool *cancelled, const struct window_result *w,
		      const struct format *format, size_t pairs, size_t max_bytes, char **text,
		      size_t *size)
{
	struct sink sink = {.max = max_bytes, .cancelled = cancelled};
	FILE *out;
	int r;

	if (!sink_reserve(&sink, 0))
		return -ENOMEM;
	sink.text[0] = '\0';
	out = fopencookie(&sink, "w", (cookie_io_functions_t){.write = sink_write});
	if (!out) {
		free(sink.text);
		return -ENOMEM;
	}
	r = format->write(out, w, pairs);
	if (fclose(out) != 0 && r == 0)
		r = -ENOMEM;
	if (sink.error < 0)
		r = sink.error; /* What the writer took for something else. */
	if (r < 0) {
		free(sink.text);
		return r;
	}
	*text = sink.text;
	*size = sink.size;
	return 0;
}

int report_new(const struct window_result *w, Jxp__Format format, size_t pairs, size_t max_bytes,
	       char **text, size_t *size, struct err *err)
{
	return report_new_unless(NULL, w, format, pairs, max_bytes, text, size, err);
}

int report_new_unless(const atomic_bool *cancelled, const struct window_result *w,
		      Jxp__Format format, size_t pairs, size_t max_bytes, char **text, size_t *size,
		      struct err *err)
{
	const struct format *writer = find_format(format);
	int r;

	if (!writer)
		return report_check_format(format, err);
	if (pairs == 0)
		pairs = writer->default_pairs;
	for (;;) {
		r = write_once(cancelled, w, writer, pairs, max_bytes, text, size);
		if (r == 0)
			return 0;
		if (r == -ECANCELED)
			return err_set(err, ECANCELED, "nobody wants the report any more");
		if (r != -EMSGSIZE)
			return err_set(err, -r, "out of memory while writing the report");
		if (pairs == 0)
			return err_set(err, EMSGSIZE, "the report does not fit into one message");
		pairs /= 2;
	}
}

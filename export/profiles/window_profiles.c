#include "export/profiles/window_profiles.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nettle/sha2.h>

#include "common/array.h"

void window_profile_id(uint8_t id[WINDOW_PROFILE_ID_BYTES], const struct export_origin *origin,
		       const struct window_result *w, const char *type)
{
	char number[32];
	const char *parts[] = {origin->host, origin->store, number, type};
	struct sha256_ctx hash;

	(void)snprintf(number, sizeof(number), "%u", w->number);
	sha256_init(&hash);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) /* With NULs between them. */
		sha256_update(&hash, strlen(parts[i]) + 1, (const uint8_t *)parts[i]);
	sha256_digest(&hash, WINDOW_PROFILE_ID_BYTES, id);
}

int window_models_take(struct window_models *m, const struct window_result *w)
{
	/* Without what only texts say. */
	static const struct report_wanted wanted = {.format = JXP__FORMAT__FORMAT_PPROF};
	int r;

	if (m->made && m->model.window == w)
		return 0;
	if (m->made)
		report_model_release(&m->model);
	m->made = false;
	r = report_model_init(&m->model, w, &wanted);
	if (r < 0)
		return r;
	m->made = true;
	m->series_count = sample_series_list(&m->model, m->series);
	return 0;
}

void window_profiles_release(struct window_profiles *p)
{
	if (p->models.made)
		report_model_release(&p->models.model);
	free(p->profiles);
	*p = (struct window_profiles){0};
}

/* ---------------------------------------------------------------- which there are */

static int add_profile(struct window_profiles *p, const struct window_profile *profile)
{
	int r = array_reserve(&p->profiles, &p->capacity, p->count + 1, sizeof(p->profiles[0]));

	if (r == 0)
		p->profiles[p->count++] = *profile;
	return r;
}

static int list_window(struct window_profiles *p, const struct window_result *w)
{
	struct window_models *m = &p->models;
	int r = window_models_take(m, w);

	for (uint32_t i = 0; r == 0 && i < m->series_count; i++)
		for (uint32_t j = 0; r == 0 && j < m->series[i].value_count; j++)
			if (sample_series_has(&m->model, &m->series[i], j))
				r = add_profile(p, &(struct window_profile){w, i, j});
	return r;
}

int window_profiles_list(struct window_profiles *p, const struct window_result *const *windows,
			 size_t count, uint64_t too_old_ns, uint64_t now_unix_ns,
			 struct export_batch *out)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t began = windows[i]->start_unix_ns;
		int r;

		if (too_old_ns > 0 && began < now_unix_ns && now_unix_ns - began > too_old_ns) {
			out->too_old++;
			continue;
		}
		r = list_window(p, windows[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---------------------------------------------------------------- how many at a time */

struct split {
	struct window_profiles *profiles;
	window_profiles_write *write;
	void *format;
	struct export_batch *out;
	size_t capacity; /* of its requests */
};

/* A request, and how many samples it lacks. */
struct draft_request {
	struct export_request request;
	uint64_t cut;
};

static void draft_request_release(struct draft_request *d)
{
	free(d->request.target);
	free(d->request.body);
	*d = (struct draft_request){0};
}

/* out is zeros before, and after a failure. */
static int write_once(struct split *s, size_t first, size_t count, size_t samples_max,
		      struct draft_request *out)
{
	const struct window_profile *profiles = s->profiles->profiles + first;
	int r = s->write(s->format, &s->profiles->models, profiles, count, samples_max,
			 &out->request, &out->cut);

	if (r < 0)
		*out = (struct draft_request){0};
	return r;
}

/* Takes what is in the draft, also where there is no memory. */
static int append(struct split *s, struct draft_request *draft)
{
	int r = array_reserve(&s->out->requests, &s->capacity, s->out->count + 1,
			      sizeof(s->out->requests[0]));

	if (r < 0) {
		draft_request_release(draft);
		return r;
	}
	s->out->requests[s->out->count++] = draft->request;
	s->out->cut += draft->cut;
	return 0;
}

/* How many samples the profile has at most. */
static size_t samples_of(struct split *s, size_t profile)
{
	const struct window_profile *p = &s->profiles->profiles[profile];
	const struct sample_series *series = &s->profiles->models.series[p->series];

	return CPU_CODES * (series->rows + series->rows_beside);
}

/* Of a profile that is too large with so many samples: with as many as fit, but for an eighth. */
static int write_fewer(struct split *s, size_t profile, size_t samples_max, struct err *err)
{
	size_t all = samples_of(s, profile), fit = 0;
	size_t too_many = samples_max < all ? samples_max : all;
	struct draft_request best = {0};

	while (too_many - fit > 1 && (fit == 0 || too_many - fit > too_many / 8)) {
		size_t samples = fit + (too_many - fit) / 2;
		struct draft_request draft = {0};
		int r = write_once(s, profile, 1, samples, &draft);

		if (r < 0 && r != -EMSGSIZE) {
			draft_request_release(&best);
			return r;
		}
		if (r < 0) {
			too_many = samples;
			continue;
		}
		draft_request_release(&best);
		best = draft;
		fit = samples;
	}
	if (fit > 0)
		return append(s, &best);
	return err_set(err, EMSGSIZE,
		       "one sample of window '%s' is larger than a request may be: raise the "
		       "destination's limit on bytes",
		       s->profiles->profiles[profile].window->id);
}

static int write_some(struct split *s, size_t first, size_t count, size_t samples_max,
		      struct err *err)
{
	struct draft_request draft = {0};
	int r = write_once(s, first, count, samples_max, &draft);

	if (r == 0)
		return append(s, &draft);
	if (r != -EMSGSIZE)
		return r;
	if (count == 1)
		return write_fewer(s, first, samples_max, err);
	r = write_some(s, first, count / 2, samples_max, err);
	return r < 0 ? r : write_some(s, first + count / 2, count - count / 2, samples_max, err);
}

int window_profiles_split(struct window_profiles *p, window_profiles_write *write, void *format,
			  size_t samples_max, struct export_batch *out, struct err *err)
{
	struct split s = {
	    .profiles = p, .write = write, .format = format, .out = out, .capacity = out->count};

	if (p->count == 0)
		return 0;
	return write_some(&s, 0, p->count, samples_max ? samples_max : SIZE_MAX, err);
}

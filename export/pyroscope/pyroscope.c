#include "export/pyroscope/pyroscope.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/utf8.h"
#include "export/profiles/profile_answer.h"
#include "export/profiles/window_profiles.h"
#include "export/protobuf/protobuf.h"
#include "report/pprof/pprof.h"

/* PushRequest.series of RawProfileSeries {labels, samples}, these of RawSample {rawProfile, ID}. */
enum {
	REQUEST_SERIES = 1,
	SERIES_LABELS = 1,
	SERIES_SAMPLES = 2,
	SAMPLE_PROFILE = 1,
	SAMPLE_ID = 2,
};

#define LABEL_BYTES 512
#define UUID_BYTES  37 /* of text, with its NUL */

struct push {
	const struct export_origin *origin;
	size_t bytes_max;
};

/* Of a profile: compressed, and to be freed; its size before that. */
struct packed {
	char *bytes;
	size_t size, unpacked;
};

/* ---------------------------------------------------------------- a series */

/* LabelPair {name, value}. A label without a value is none. */
static void put_label(struct protobuf *out, const char *name, const char *value)
{
	char shown[LABEL_BYTES];
	size_t begun;

	if (!value[0])
		return;
	(void)utf8_sanitize(shown, sizeof(shown), value); /* Its length. */
	begun = protobuf_begin(out, SERIES_LABELS);
	protobuf_text(out, 1, name);
	protobuf_text(out, 2, shown);
	protobuf_end(out, begun);
}

/* CPU time is called as all profilers call it, so that the server's pages find it. */
static void put_labels(struct protobuf *out, const struct export_origin *origin,
		       const struct window_result *w, const char *kind)
{
	char name[EXPORT_LABEL_BYTES], text[EXPORT_LABEL_BYTES];
	const char *own = origin->labels;

	put_label(out, "__name__", strcmp(kind, "cpu") == 0 ? "process_cpu" : "jxperf");
	put_label(out, "service_name", w->app[0] ? w->app : "unknown_service:java");
	put_label(out, "host", origin->host);
	put_label(out, "host_group", origin->group);
	put_label(out, "namespace", w->namespace);
	put_label(out, "pod", w->pod);
	put_label(out, "kind", kind);
	put_label(out, "schedule", w->request.schedule.name);
	while ((own = export_label_next(own, name, text)))
		put_label(out, name, text);
}

/* A UUID of version 8 (RFC 9562, 5.8), whose bits are the profile's id. */
static void put_id(struct protobuf *out, const struct export_origin *origin,
		   const struct window_result *w, const char *type)
{
	uint8_t id[WINDOW_PROFILE_ID_BYTES];
	char text[UUID_BYTES], *at = text;

	window_profile_id(id, origin, w, type);
	id[6] = (uint8_t)((id[6] & 0x0f) | 0x80);
	id[8] = (uint8_t)((id[8] & 0x3f) | 0x80);
	for (size_t i = 0; i < sizeof(id); i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*at++ = '-';
		at += sprintf(at, "%02x", id[i]); /* Fits: 32 digits and 4 dashes. */
	}
	protobuf_text(out, SAMPLE_ID, text);
}

/* ---------------------------------------------------------------- a profile */

/* The heaviest of so many samples at most. */
static int pack(const struct report_model *model, const struct pprof_value *value,
		size_t samples_max, struct packed *packed, uint64_t *cut)
{
	_cleanup_free_ struct series_pick *picks = NULL;
	struct pprof_extent extent = {0};
	size_t count, wanted;
	FILE *out;
	int r = sample_series_heaviest(model, value->series, value->value, &picks, &count);

	if (r < 0)
		return r;
	out = open_memstream(&packed->bytes, &packed->size);
	if (!out)
		return -ENOMEM;
	wanted = count < samples_max ? count : samples_max;
	r = report_pprof_write_value(out, model, value, picks, wanted, &extent);
	if (ferror(out))
		r = -ENOMEM;
	if (fclose(out) != 0)
		r = -ENOMEM;
	packed->unpacked = extent.bytes;
	*cut += count - extent.samples;
	return r;
}

static void packed_release(struct packed *p)
{
	free(p->bytes);
}

static int put_profile(struct protobuf *out, const struct push *push, struct window_models *models,
		       const struct window_profile *p, size_t samples_max, uint64_t *cut)
{
	static const char *const labels[] = {"region", "code", NULL};
	_cleanup_(packed_release) struct packed packed = {0};
	struct sample_series series;
	struct sample_value *value;
	size_t begun, sample;
	int r = window_models_take(models, p->window);

	if (r < 0)
		return r;
	series = models->series[p->series];
	value = &series.values[p->value];
	if (value->period.period == 0) /* The server takes none that has no period. */
		value->period.period = 1;
	r = pack(&models->model, &(struct pprof_value){&series, p->value, labels}, samples_max,
		 &packed, cut);
	if (r < 0)
		return r;
	if (packed.unpacked > push->bytes_max)
		return -EMSGSIZE;
	begun = protobuf_begin(out, REQUEST_SERIES);
	put_labels(out, push->origin, p->window, series.kind);
	sample = protobuf_begin(out, SERIES_SAMPLES);
	protobuf_bytes(out, SAMPLE_PROFILE, packed.bytes, packed.size);
	put_id(out, push->origin, p->window, value->type);
	protobuf_end(out, sample);
	protobuf_end(out, begun);
	return out->error;
}

static int write_request(void *format, struct window_models *models,
			 const struct window_profile *profiles, size_t count, size_t samples_max,
			 struct export_request *request, uint64_t *cut)
{
	_cleanup_(protobuf_release) struct protobuf body = {0};
	const struct push *push = format;
	int r = 0;

	*cut = 0;
	for (size_t i = 0; i < count && r == 0; i++) {
		r = put_profile(&body, push, models, &profiles[i], samples_max, cut);
		if (r == 0 && body.used > push->bytes_max)
			r = -EMSGSIZE;
	}
	if (r < 0)
		return r;
	request->target = strdup("/push.v1.PusherService/Push");
	if (!request->target)
		return -ENOMEM;
	request->content_type = "application/proto";
	request->body = TAKE_PTR(body.bytes);
	request->body_bytes = body.used;
	return 0;
}

/* ---------------------------------------------------------------- the format */

static int encode(void *memory, const struct export_settings *settings,
		  const struct export_origin *origin, const struct window_result *const *windows,
		  size_t count, uint64_t now_unix_ns, struct export_batch *out, struct err *err)
{
	_cleanup_(window_profiles_release) struct window_profiles profiles = {0};
	struct push push = {.origin = origin,
			    .bytes_max = settings->body_bytes_max ? settings->body_bytes_max
								  : PYROSCOPE_BODY_BYTES};
	int r;

	(void)memory; /* Nothing is remembered: each profile has all that it refers to. */
	r = window_profiles_list(&profiles, windows, count, PYROSCOPE_TOO_OLD_NS, now_unix_ns, out);
	if (r < 0)
		return r;
	return window_profiles_split(&profiles, write_request, &push, PYROSCOPE_SAMPLES, out, err);
}

/* Connect's answer to a call that failed is JSON, on one line. */
static enum export_outcome judge(int status, const void *body, size_t body_bytes, struct err *line,
				 uint64_t *lost)
{
	char message[ANSWER_LINE_BYTES];

	*lost = 0;
	if (status >= 200 && status < 300)
		return EXPORT_SENT;
	profile_answer_line(message, body, body_bytes);
	(void)err_set(line, EREMOTEIO, "%s", message);
	/* Of the server's own storage, too, which no window is to be lost for. */
	return status == 500 ? EXPORT_FAILED : profile_answer_outcome(status);
}

const struct export_format export_pyroscope = {
    .name = "pyroscope", .encode = encode, .judge = judge};

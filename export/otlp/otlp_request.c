#include "export/otlp/otlp_request.h"

#include <errno.h>

#include "common/cleanup.h"
#include "common/utf8.h"
#include "export/otlp/otlp_profile.h"

/* Of what the messages are; a Resource has attributes of KeyValue {key, value}. */
enum {
	REQUEST_RESOURCE_PROFILES = 1,
	REQUEST_DICTIONARY = 2,
	RESOURCE_PROFILES_RESOURCE = 1,
	RESOURCE_PROFILES_SCOPE_PROFILES = 2,
	SCOPE_PROFILES_SCOPE = 1,
	SCOPE_PROFILES_PROFILES = 2,
	VALUE_STRING = 1,
	VALUE_INT = 3,
};

#define TEXT_BYTES 512

/* A request as it is written. */
struct draft {
	struct protobuf body;
	struct otlp_dictionary dictionary;
	struct otlp_window window; /* the one whose resource is begun */
	bool begun;
	size_t resource, scope; /* where they were begun */
};

static void draft_release(struct draft *d)
{
	if (d->begun)
		otlp_window_release(&d->window);
	otlp_dictionary_release(&d->dictionary);
	protobuf_release(&d->body);
}

/* ---------------------------------------------------------------- the JVM */

/* A text of the protocol is UTF-8; what a host is called need not be. */
static void put_text(struct protobuf *out, const char *key, const char *text)
{
	char shown[TEXT_BYTES];
	size_t begun, value;

	if (!text[0])
		return;
	(void)utf8_sanitize(shown, sizeof(shown), text); /* Its length. */
	begun = protobuf_begin(out, 1);
	protobuf_text(out, 1, key);
	value = protobuf_begin(out, 2);
	protobuf_text(out, VALUE_STRING, shown);
	protobuf_end(out, value);
	protobuf_end(out, begun);
}

static void put_number(struct protobuf *out, const char *key, uint64_t number)
{
	size_t begun = protobuf_begin(out, 1), value;

	protobuf_text(out, 1, key);
	value = protobuf_begin(out, 2);
	protobuf_chosen_number(out, VALUE_INT, number);
	protobuf_end(out, value);
	protobuf_end(out, begun);
}

static void put_own(struct protobuf *out, const char *labels)
{
	char name[EXPORT_LABEL_BYTES], text[EXPORT_LABEL_BYTES];

	while ((labels = export_label_next(labels, name, text)))
		put_text(out, name, text);
}

/* A merge is of several processes, and a window that could not run may be of none. */
static void put_resource(struct protobuf *out, const struct export_origin *origin,
			 const struct window_result *w)
{
	size_t begun = protobuf_begin(out, RESOURCE_PROFILES_RESOURCE);

	put_text(out, "service.name", w->app[0] ? w->app : "unknown_service:java");
	put_text(out, "host.name", origin->host);
	if (!w->merged && w->pid > 0)
		put_number(out, "process.pid", (uint64_t)w->pid);
	put_text(out, "container.id", w->container);
	put_text(out, "k8s.namespace.name", w->namespace);
	put_text(out, "k8s.pod.name", w->pod);
	put_text(out, "process.runtime.name", w->vm);
	put_text(out, "process.runtime.version", w->jdk);
	put_text(out, "telemetry.sdk.name", "jxperf");
	put_text(out, "telemetry.sdk.language", "c");
	put_text(out, "telemetry.sdk.version", JXPERF_VERSION);
	put_text(out, "jxperf.gc", w->gc);
	put_text(out, "jxperf.host_group", origin->group);
	put_text(out, "jxperf.store", origin->store);
	put_own(out, origin->labels);
	protobuf_end(out, begun);
}

static int begin_window(struct draft *d, const struct export_origin *origin,
			const struct report_model *model)
{
	size_t begun;
	int r = otlp_window_init(&d->window, model, &d->dictionary);

	if (r < 0)
		return r;
	d->begun = true;
	d->resource = protobuf_begin(&d->body, REQUEST_RESOURCE_PROFILES);
	put_resource(&d->body, origin, model->window);
	d->scope = protobuf_begin(&d->body, RESOURCE_PROFILES_SCOPE_PROFILES);
	begun = protobuf_begin(&d->body, SCOPE_PROFILES_SCOPE);
	protobuf_text(&d->body, 1, "jxperf");
	protobuf_text(&d->body, 2, JXPERF_VERSION);
	protobuf_end(&d->body, begun);
	return 0;
}

static void end_window(struct draft *d)
{
	if (!d->begun)
		return;
	protobuf_end(&d->body, d->scope);
	protobuf_end(&d->body, d->resource);
	otlp_window_release(&d->window);
	d->begun = false;
}

/* ---------------------------------------------------------------- the whole */

static int put_profile(struct draft *d, const struct otlp_request *request,
		       struct window_models *models, const struct window_profile *p, uint64_t *cut)
{
	struct otlp_limits limits = {.samples = request->samples_max,
				     .bytes = request->bytes_max,
				     .renumbered = request->renumbered};
	uint64_t left_out;
	int r;

	if (d->begun && d->window.model->window != p->window)
		end_window(d);
	r = window_models_take(models, p->window);
	if (r == 0 && !d->begun)
		r = begin_window(d, request->origin, &models->model);
	if (r == 0)
		r = otlp_profile_write(&d->window, request->origin, &models->series[p->series],
				       p->value, &limits, &d->body, SCOPE_PROFILES_PROFILES,
				       &left_out);
	if (r == 0)
		*cut += left_out;
	return r;
}

int otlp_request_write(const struct otlp_request *request, struct window_models *models,
		       const struct window_profile *profiles, size_t count,
		       struct export_request *out, uint64_t *cut)
{
	_cleanup_(draft_release) struct draft d = {0};
	int r = otlp_dictionary_init(&d.dictionary);

	*cut = 0;
	for (size_t i = 0; i < count && r == 0; i++)
		r = put_profile(&d, request, models, &profiles[i], cut);
	if (r < 0)
		return r;
	end_window(&d);
	otlp_dictionary_write(&d.dictionary, &d.body, REQUEST_DICTIONARY);
	if (d.body.error < 0)
		return d.body.error;
	if (d.body.used > request->bytes_max)
		return -EMSGSIZE;
	out->body = TAKE_PTR(d.body.bytes);
	out->body_bytes = d.body.used;
	return 0;
}

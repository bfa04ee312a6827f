#include "client/command/findings.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "client/daemon/exchange.h"
#include "proto/kinds.h"

/* Whoever looks on does without findings rather than wait for long. */
#define REPLY_TIMEOUT_MS 10000
/* Lines behind the first one of a finding. */
#define INDENT 5

void findings_show(const struct findings *f, struct lines *l, size_t width)
{
	char text[LINES_BYTES_MAX];

	for (size_t i = 0; i < f->count; i++) {
		const struct finding *finding = &f->list[i];

		(void)snprintf(text, sizeof(text), "  %zu. %s", i + 1,
			       finding->sentence); /* Cut. */
		lines_add_folded(l, terminal_style_of_kind(finding->kind), width, INDENT, text);
	}
	if (f->known && f->count == 0)
		lines_add(l, STYLE_QUIET, "  nothing was found so far");
}

void findings_release(struct findings *f)
{
	for (size_t i = 0; i < f->count; i++)
		free(f->list[i].sentence);
	*f = (struct findings){0};
}

/* Of a report in JSON. What is missing there is not shown. */
static void take(struct findings *f, const json_t *report)
{
	const json_t *problems = json_object_get(report, "problems"), *problem;
	const json_t *cost =
	    json_object_get(json_object_get(report, "quality"), "overhead_fraction");
	size_t i;

	f->known = true;
	f->cost_known = json_is_number(cost);
	f->cost = json_number_value(cost);
	json_array_foreach(problems, i, problem)
	{
		const char *text = json_string_value(json_object_get(problem, "sentence"));
		char *sentence = text && f->count < FINDINGS_MAX ? strdup(text) : NULL;

		if (sentence)
			f->list[f->count++] =
			    (struct finding){sentence, pair_kind_named(json_string_value(
							   json_object_get(problem, "pair_kind")))};
	}
}

int findings_ask(struct client *c, const char *window, struct findings *out, struct err *err)
{
	Jxp__ReportRequest request = JXP__REPORT_REQUEST__INIT;
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	json_t *report;
	int r;

	request.window = (char *)window;
	request.format = JXP__FORMAT__FORMAT_JSON;
	request.pairs = 1;
	r = exchange_once_within(c, JXP__CONTROL_REQUEST__BODY_REPORT, &request, REPLY_TIMEOUT_MS,
				 &reply, err);
	if (r < 0)
		return r;
	report = json_loadb((const char *)reply->document->text.data, reply->document->text.len, 0,
			    NULL);
	if (!report)
		return err_set(err, EPROTO, "the daemon's report is no JSON");
	*out = (struct findings){0};
	take(out, report);
	json_decref(report);
	return 0;
}

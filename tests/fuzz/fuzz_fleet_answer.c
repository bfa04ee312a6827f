/*
 * Fuzzes what a server may answer to the questions of `jxperfctl fleet report`, and the reports of
 * what is taken for a fleet's windows. An input is the answers in their order, each behind its
 * length (32 bits, little endian); then there is none. libFuzzer entry point.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/report/fleet_report.h"
#include "report/report.h"
#include "tests/unit/support/whole_report.h"

#define ANSWER_MAX ((size_t)1 << 20)
#define REPORT_MAX (16u << 20)

struct input {
	const uint8_t *at, *end;
};

static int answer(void *context, const char *query, struct buffer *out, struct err *err)
{
	struct input *input = context;
	uint32_t size;
	int r;

	(void)query;
	if ((size_t)(input->end - input->at) < sizeof(size))
		return err_set(err, ECONNREFUSED, "no more answers");
	memcpy(&size, input->at, sizeof(size));
	input->at += sizeof(size);
	if (size > (size_t)(input->end - input->at))
		size = (uint32_t)(input->end - input->at);
	r = buffer_append(out, input->at, size);
	input->at += size;
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, data + size};
	const struct fleet_server server = {answer, &input, ANSWER_MAX};
	struct window_result *w = NULL;
	struct err err;

	if (fleet_report_ask(&server, &(struct fleet_question){.app = "shop"}, &w, &err) < 0)
		return 0;
	for (int format = JXP__FORMAT__FORMAT_TEXT; format <= JXP__FORMAT__FORMAT_JSON; format++) {
		char *text;
		size_t bytes;

		if (report_new(w, (Jxp__Format)format, 0, REPORT_MAX, &text, &bytes, NULL) == 0)
			free(text);
	}
	window_result_free(w);
	return 0;
}

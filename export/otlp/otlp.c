#include "export/otlp/otlp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "export/protobuf/wire.h"
#include "export/otlp/otlp_request.h"
#include "export/profiles/profile_answer.h"

/* Of ExportProfilesServiceResponse, and of its ExportProfilesPartialSuccess. */
enum { RESPONSE_PARTIAL_SUCCESS = 1, PARTIAL_REJECTED_PROFILES = 1, PARTIAL_ERROR_MESSAGE = 2 };

/* Of google.rpc.Status, which is the body of an answer that says no. */
enum { STATUS_MESSAGE = 2 };

static int write_request(void *format, struct window_models *models,
			 const struct window_profile *profiles, size_t count, size_t samples_max,
			 struct export_request *request, uint64_t *cut)
{
	struct otlp_request wanted = *(const struct otlp_request *)format;
	char *target = strdup("/v1development/profiles");
	int r;

	wanted.samples_max = samples_max;
	r = target ? otlp_request_write(&wanted, models, profiles, count, request, cut) : -ENOMEM;
	if (r < 0) {
		free(target);
		return r;
	}
	request->target = target;
	request->content_type = "application/x-protobuf";
	return 0;
}

static int encode(void *memory, const struct export_settings *settings,
		  const struct export_origin *origin, const struct window_result *const *windows,
		  size_t count, uint64_t now_unix_ns, struct export_batch *out, struct err *err)
{
	_cleanup_(window_profiles_release) struct window_profiles profiles = {0};
	struct otlp_request request = {
	    .origin = origin,
	    .bytes_max = settings->body_bytes_max ? settings->body_bytes_max : OTLP_BODY_BYTES,
	    .renumbered = settings->otlp_minor >= OTLP_MINOR_RENUMBERED};
	int r;

	(void)memory; /* Nothing is remembered: each request says all that it refers to. */
	r = window_profiles_list(&profiles, windows, count, 0, now_unix_ns, out);
	if (r < 0)
		return r;
	return window_profiles_split(&profiles, write_request, &request, 0, out, err);
}

/* ---------------------------------------------------------------- answers */

/* The first line of the field's text; false where it is not there. */
static bool message_in(char message[ANSWER_LINE_BYTES], const void *body, size_t size,
		       unsigned number)
{
	struct wire wire = wire_of(body, size);
	struct wire_field field;

	message[0] = '\0';
	while (wire_next(&wire, &field))
		if (field.number == number && field.type == WIRE_BYTES)
			profile_answer_line(message, field.bytes, field.value);
	return message[0];
}

/* A server that takes a part of a request says how much it does not take, and must not get that
 * again. An answer that is none of the protocol's says nothing of it. */
static uint64_t rejected(const void *body, size_t size, struct err *line)
{
	struct wire wire = wire_of(body, size), part = {0};
	struct wire_field field;
	char message[ANSWER_LINE_BYTES];
	int64_t lost = 0;

	while (wire_next(&wire, &field))
		if (field.number == RESPONSE_PARTIAL_SUCCESS && field.type == WIRE_BYTES)
			part = wire_of(field.bytes, field.value);
	if (wire.wrong)
		return 0;
	while (wire_next(&part, &field))
		if (field.number == PARTIAL_REJECTED_PROFILES && field.type == WIRE_VARINT)
			lost = (int64_t)field.value;
	if (part.wrong || lost <= 0)
		return 0;
	if (message_in(message, part.begin, (size_t)(part.end - part.begin), PARTIAL_ERROR_MESSAGE))
		(void)err_set(line, EREMOTEIO,
			      "the server took a request without %lld of its profiles: "
			      "%s",
			      (long long)lost, message);
	else
		(void)err_set(line, EREMOTEIO,
			      "the server took a request without %lld of its profiles",
			      (long long)lost);
	return (uint64_t)lost;
}

static enum export_outcome judge(int status, const void *body, size_t body_bytes, struct err *line,
				 uint64_t *lost)
{
	char message[ANSWER_LINE_BYTES];

	*lost = 0;
	if (status >= 200 && status < 300) {
		*lost = rejected(body, body_bytes, line);
		return EXPORT_SENT;
	}
	if (!message_in(message, body, body_bytes, STATUS_MESSAGE))
		profile_answer_line(message, body, body_bytes);
	(void)err_set(line, EREMOTEIO, "%s", message);
	return profile_answer_outcome(status);
}

const struct export_format export_otlp = {.name = "otlp", .encode = encode, .judge = judge};

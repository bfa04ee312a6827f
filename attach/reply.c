#include "attach/reply.h"

#include "common/utf8.h"
#include "proto/helper.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define QUOTE_BYTES 320 /* of the JVM's text in a message: room for the sentence around it */

struct reply {
	pid_t pid;
	const char *library;
	char quote[QUOTE_BYTES]; /* the text behind the status line, on one line */
	struct err *err;
};

/* Agent_OnAttach may return these, which are sentences here. */
static const struct {
	long code;
	int errno_value;
	const char *sentence;
} agent_results[] = {
    {AGENT_BUSY, EBUSY, "is already being profiled by another session; end that one first"},
    {AGENT_BAD_OPTIONS, EINVAL,
     "has an agent loaded that does not understand this daemon; restart it to load the new one"},
    {AGENT_UNSUPPORTED, ENOTSUP,
     "has a JVM that does not describe itself (vmStructs); JDK 11 or newer is needed"},
    {AGENT_NO_RESOURCES, ENOMEM,
     "had no memory or thread left for the agent; raise its limits and try again"},
    {AGENT_TOO_EARLY, EINPROGRESS, "is still starting, or ending; try again"},
    {AGENT_NO_CLIENT, ECONNREFUSED,
     "loaded the agent, which cannot connect to the socket in its directory: let the security "
     "module of the system permit that"},
    {AGENT_LEAVING, EINPROGRESS, "is still ending its last session; try again"},
};

static int agent_result(const struct reply *r, long code)
{
	if (code == AGENT_OK)
		return 0;
	for (size_t i = 0; i < sizeof(agent_results) / sizeof(agent_results[0]); i++)
		if (agent_results[i].code == code)
			return err_set(r->err, agent_results[i].errno_value, "process %d %s",
				       r->pid, agent_results[i].sentence);
	return err_set(
	    r->err, EREMOTEIO,
	    "process %d: the agent refused to start (code %ld); reinstall jxperf so that "
	    "agent and daemon match",
	    r->pid, code);
}

/* A whole line that is a number. */
static bool number_line(const char *line, long *value)
{
	char *end;

	if (!isdigit((unsigned char)*line) && *line != '-')
		return false;
	errno = 0;
	*value = strtol(line, &end, 10);
	return errno == 0 && end != line && (*end == '\n' || *end == '\r' || *end == '\0');
}

/* Refusals, by words that all JDKs have used. */
static const struct {
	const char *words;
	int errno_value;
	const char *format; /* takes the pid, the library and the JVM's text */
} refusals[] = {
    {"ynamic agent loading is not enabled", EPERM,
     "process %d runs with -XX:-EnableDynamicAgentLoading: restart it without to profile it"},
    {"only permitted in the live phase", EINPROGRESS,
     "process %d is still starting, or ending; try again"},
    {"was not loaded", ELIBACC, "process %d: its JVM could not load '%s': %s"},
    {"Agent_OnAttach is not available", ELIBACC,
     "process %d: its JVM found no agent in '%s'; reinstall jxperf"},
};

/* The text of an answer that is not a return code. */
static int refusal(const struct reply *r, long status)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (strstr(r->quote, refusals[i].words))
			return err_set(r->err, refusals[i].errno_value, refusals[i].format, r->pid,
				       r->library, r->quote);
	if (status == 0)
		return err_set(r->err, EPROTO,
			       "process %d: its JVM's answer was not understood: '%s'", r->pid,
			       r->quote);
	return err_set(r->err, EREMOTEIO, "process %d: its JVM refused to load the agent (%ld): %s",
		       r->pid, status, r->quote[0] ? r->quote : "it gave no reason");
}

/* "return code: N", on the last line; JDK 8: N alone. */
static bool return_code(const char *text, long *code)
{
	static const char label[] = "return code: ";
	const char *at = strstr(text, label);

	return number_line(at ? at + sizeof(label) - 1 : text, code);
}

/* White space at the end goes, line ends inside become spaces. */
static void make_quote(char *quote, const char *text)
{
	char flat[QUOTE_BYTES];
	size_t n = strnlen(text, sizeof(flat) - 1);

	memcpy(flat, text, n);
	while (n > 0 && isspace((unsigned char)flat[n - 1]))
		n--;
	flat[n] = '\0';
	for (char *p = flat; *p; p++)
		if (isspace((unsigned char)*p))
			*p = ' ';
	(void)utf8_sanitize(quote, QUOTE_BYTES, flat);
}

int reply_parse(const char *text, size_t size, pid_t pid, const char *library, struct err *err)
{
	struct reply r = {.pid = pid, .library = library, .err = err};
	char copy[REPLY_MAX_BYTES + 1];
	const char *rest;
	long status, code;

	if (size > REPLY_MAX_BYTES)
		size = REPLY_MAX_BYTES;
	for (size_t i = 0; i < size; i++)
		copy[i] = text[i] ? text[i] : ' ';
	copy[size] = '\0';
	if (size == 0)
		return err_set(
		    err, ECONNRESET,
		    "process %d: its JVM closed the attach connection without an answer; "
		    "try again",
		    pid);
	rest = strchr(copy, '\n');
	rest = rest ? rest + 1 : copy + size;
	if (!number_line(copy, &status)) {
		make_quote(r.quote, copy);
		return err_set(err, EPROTO, "process %d: its JVM's answer was not understood: '%s'",
			       pid, r.quote);
	}
	make_quote(r.quote, rest);
	if (status == 0 && return_code(rest, &code))
		return agent_result(&r, code);
	return refusal(&r, status);
}

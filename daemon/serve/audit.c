#include "daemon/serve/audit.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <syslog.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/label.h"
#include "common/log.h"
#include "common/utf8.h"
#include "daemon/engine/window_log.h"
#include "daemon/shares/miss.h"
#include "profile/window/result.h"
#include "proto/kinds.h"

#define VALUE_BYTES ERR_MESSAGE_MAX /* of one, before it is quoted */

struct audit_line {
	char *text; /* AUDIT_LINE_BYTES */
	size_t used;
};

/* Numbers and our own words come first and fit. */
static void put_number(struct audit_line *l, const char *key, uint64_t value)
{
	l->used += (size_t)snprintf(l->text + l->used, AUDIT_LINE_BYTES - l->used, " %s=%" PRIu64,
				    key, value);
}

static void put_text(struct audit_line *l, const char *key, const char *value)
{
	char clean[VALUE_BYTES];
	size_t length = utf8_sanitize(clean, sizeof(clean), value);

	l->used += (size_t)snprintf(l->text + l->used, AUDIT_LINE_BYTES - l->used, " %s=", key);
	if (length > 0 && label_is_valid(clean, length))
		l->used +=
		    (size_t)snprintf(l->text + l->used, AUDIT_LINE_BYTES - l->used, "%s", clean);
	else
		l->used += log_quote(l->text + l->used, AUDIT_LINE_BYTES - l->used, clean);
}

static void put_asker(struct audit_line *l, const struct window_asker *who)
{
	put_number(l, "uid", who->uid);
	put_number(l, "peer-pid", (uint32_t)who->pid);
	if (who->logged_in)
		put_number(l, "login", who->login);
}

/* Another's process is as good as none for who asks, and is told apart here alone. */
static bool is_anothers(const struct audit_entry *entry)
{
	const struct window_asker *who = entry->of ? &entry->of->asker : entry->who;
	pid_t pid = entry->of ? entry->of->pid : (pid_t)entry->pid;

	return pid > 0 && who && who->sees != PROC_ANY_UID && (kill(pid, 0) == 0 || errno == EPERM);
}

static const char *outcome_of(const struct audit_entry *entry)
{
	const struct attach_error *error = attach_error(entry->error);

	if (!entry->reason)
		return "ok";
	if (entry->error == EINVAL)
		return "invalid";
	if (entry->error == ENOENT || error->absent)
		return entry->error == ESRCH && is_anothers(entry) ? "refused" : "not-found";
	return error->refusal ? "refused" : "failed";
}

/* ---------------------------------------------------------------- windows */

/* A target that ends takes its window with it, whatever else is said. */
static const char *end_of(const struct window_result *w)
{
	if (w->state == WINDOW_FAILED)
		return "failed";
	if (w->target_ended)
		return "target-ended";
	return w->state == WINDOW_DONE ? "done" : "early";
}

/* The wasteful part of what was checked, for each kind of pairs; "" without pairs. */
static void describe_findings(const struct window_result *w, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < PAIR_KINDS; i++) {
		const struct totals *t = &w->profile.kinds[pair_kinds[i].kind].application;

		if (t->checked_bytes == 0 || used >= size)
			continue;
		used += (size_t)snprintf(
		    text + used, size - used, "%s%s %.0f%%", used ? ", " : "", pair_kinds[i].option,
		    100 * (double)t->wasteful_bytes / (double)t->checked_bytes);
	}
}

static void put_end(struct audit_line *l, const struct window_result *w)
{
	char findings[VALUE_BYTES];

	put_text(l, "outcome", end_of(w));
	put_number(l, "duration-ms", window_result_elapsed_ns(w) / NS_PER_MS);
	put_number(l, "overhead-ms", w->overhead_ns / NS_PER_MS);
	describe_findings(w, findings, sizeof(findings));
	if (findings[0])
		put_text(l, "findings", findings);
	if (w->reason[0])
		put_text(l, "reason", w->reason);
}

static bool is_scheduled(const struct audit_entry *entry)
{
	return entry->of && window_request_is_scheduled(&entry->of->request);
}

/* ---------------------------------------------------------------- lines */

void audit_format(char line[AUDIT_LINE_BYTES], const struct audit_entry *entry)
{
	struct audit_line l = {.text = line};
	const struct window_result *w = entry->of;
	const char *id = w ? w->id : entry->window;
	uint32_t pid = w ? (uint32_t)w->pid : entry->pid;
	char window[WINDOW_LABEL_BYTES];

	l.used = (size_t)snprintf(line, AUDIT_LINE_BYTES, "audit: action=%s", entry->action);
	if (is_scheduled(entry))
		put_text(&l, "schedule", w->request.schedule.name);
	else if (w || entry->who)
		put_asker(&l, w ? &w->asker : entry->who);
	if (entry->signal)
		put_text(&l, "signal", entry->signal);
	if (w && w->app[0])
		put_text(&l, "app", w->app);
	if (pid)
		put_number(&l, "pid", pid);
	if (id && id[0]) {
		/* So that a client cannot drive out the reason. */
		(void)utf8_sanitize(window, sizeof(window), id);
		put_text(&l, "window", window);
	}
	if (entry->ended) {
		put_end(&l, w);
		return;
	}
	put_text(&l, "outcome", outcome_of(entry));
	if (entry->reason)
		put_text(&l, "reason", entry->reason);
	else if (entry->given && entry->given[0])
		put_text(&l, "reason", entry->given);
}

void audit_write(const struct audit_entry *entry)
{
	const struct log_subject subject = entry->of
					       ? window_log_subject(entry->of)
					       : (struct log_subject){.pid = (pid_t)entry->pid};
	int priority = LOG_INFO;
	char line[AUDIT_LINE_BYTES];

	if (entry->reason)
		priority = LOG_WARNING;
	else if (is_scheduled(entry) && !entry->ended)
		priority = LOG_DEBUG;
	audit_format(line, entry);
	log_about(&subject, priority, "%s", line);
}

void audit_configuration(const struct window_asker *who, const char *reason)
{
	const struct audit_entry entry = {
	    .action = "configure", .who = who, .signal = who ? NULL : "HUP", .reason = reason};

	audit_write(&entry);
}

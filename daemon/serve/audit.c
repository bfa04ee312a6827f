#include "daemon/serve/audit.h"

#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/label.h"
#include "common/log.h"
#include "common/utf8.h"
#include "profile/window/result.h"

#define VALUE_BYTES ERR_MESSAGE_MAX /* of one, before it is quoted */

struct audit_line {
	char *text; /* AUDIT_LINE_BYTES */
	size_t used;
};

/* Numbers and our own words come first and fit. */
static void put_number(struct audit_line *l, const char *key, uint32_t value)
{
	l->used +=
	    (size_t)snprintf(l->text + l->used, AUDIT_LINE_BYTES - l->used, " %s=%u", key, value);
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

void audit_format(char line[AUDIT_LINE_BYTES], const struct audit_entry *entry)
{
	struct audit_line l = {.text = line};
	char window[WINDOW_LABEL_BYTES];

	l.used = (size_t)snprintf(line, AUDIT_LINE_BYTES, "audit: action=%s", entry->action);
	if (entry->who) {
		put_number(&l, "uid", entry->who->uid);
		put_number(&l, "peer-pid", (uint32_t)entry->who->pid);
	}
	if (entry->pid)
		put_number(&l, "pid", entry->pid);
	if (entry->window && entry->window[0]) {
		/* So that a client cannot drive out the reason. */
		(void)utf8_sanitize(window, sizeof(window), entry->window);
		put_text(&l, "window", window);
	}
	put_text(&l, "outcome", entry->reason ? "refused" : "ok");
	if (entry->reason)
		put_text(&l, "reason", entry->reason);
}

void audit_write(const struct audit_entry *entry)
{
	char line[AUDIT_LINE_BYTES];

	audit_format(line, entry);
	if (entry->reason)
		log_warn("%s", line);
	else
		log_info("%s", line);
}

void audit_configuration(const struct window_asker *who, const char *reason)
{
	const struct audit_entry entry = {.action = "configure", .who = who, .reason = reason};

	audit_write(&entry);
}

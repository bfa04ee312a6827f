#include "daemon/serve/refusals.h"

#include <inttypes.h>

#include "common/log.h"
#include "profile/window/result.h"

static void on_timer(uv_timer_t *timer);

/* Fails only for a NULL callback or a closing handle. */
static void start_timer(struct refusals *r)
{
	if (!uv_is_active((uv_handle_t *)&r->timer))
		(void)uv_timer_start(&r->timer, on_timer, REFUSALS_MS, 0);
}

static void on_timer(uv_timer_t *timer)
{
	struct refusals *r = timer->data;

	shares_release(&r->requests);
	shares_release(&r->connections);
	for (size_t i = 0; i < r->more.count; i++) {
		const struct share_holder *h = &r->more.holders[i];

		if (h->user == SHARES_ADMINS)
			log_warn("%" PRIu64 " more requests or connections of administrators, or "
				 "of nobody known, were refused in %d s",
				 h->held, REFUSALS_MS / 1000);
		else
			log_warn("%" PRIu64 " more requests or connections of user %u were "
				 "refused in %d s",
				 h->held, h->user, REFUSALS_MS / 1000);
	}
	if (r->more.held > 0)
		start_timer(r);
	shares_release(&r->more);
}

void refusals_init(struct refusals *r, uv_loop_t *loop)
{
	static const struct share_limits requests = {.things = "requests refused",
						     .advice = "wait",
						     .all = REFUSALS_ALL,
						     .reserved = REFUSALS_RESERVED,
						     .of_user = REFUSALS_OF_USER};
	static const struct share_limits connections = {.things = "connections refused",
							.advice = "wait",
							.all = REFUSALS_RESERVED,
							.reserved = 1,
							.of_user = 1};
	static const struct share_limits more = {0}; /* It is only added up. */

	(void)uv_timer_init(loop, &r->timer); /* Cannot fail. */
	r->timer.data = r;
	shares_init(&r->requests, &requests);
	shares_init(&r->connections, &connections);
	shares_init(&r->more, &more);
}

void refusals_release(struct refusals *r)
{
	shares_release(&r->requests);
	shares_release(&r->connections);
	shares_release(&r->more);
}

void refusals_note(struct refusals *r, const struct audit_entry *entry, bool connection)
{
	uid_t user = entry->who ? entry->who->sees : SHARES_ADMINS;

	start_timer(r);
	if (shares_take(connection ? &r->connections : &r->requests, user, 1, NULL) == 0)
		audit_write(entry);
	else
		(void)shares_add(&r->more, user, 1); /* Without memory it is not counted. */
}

/* ---------------------------------------------------------------- windows */

static void on_started(void *arg, const struct window_result *w)
{
	(void)arg; /* It is no refusal. */
	audit_write(&(struct audit_entry){.action = "attach", .of = w});
}

static void on_finished(void *arg, const struct window_result *w)
{
	(void)arg; /* Nor is it here. */
	audit_write(&(struct audit_entry){.action = "end", .of = w, .ended = true});
}

static void on_failed(void *arg, const struct window_result *w, int error, const char *message)
{
	const struct audit_entry entry = {.action = "attach",
					  .who = w ? &w->asker : NULL,
					  .of = w,
					  .reason = message,
					  .error = error};

	if (w)
		refusals_note(arg, &entry, false);
}

struct window_sink refusals_sink(struct refusals *r)
{
	return (struct window_sink){
	    .arg = r, .started = on_started, .finished = on_finished, .failed = on_failed};
}

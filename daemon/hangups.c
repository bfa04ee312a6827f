#include "daemon/hangups.h"

#include <signal.h>

static void on_pace(uv_timer_t *timer);

static void read_now(struct hangups *h)
{
	h->waiting = false;
	h->read(h->arg);
	(void)uv_timer_start(&h->pace, on_pace, h->pace_ms, 0); /* Fails for a closing handle. */
}

static void on_pace(uv_timer_t *timer)
{
	struct hangups *h = timer->data;

	if (h->waiting)
		read_now(h);
}

static void on_signal(uv_signal_t *signal, int number)
{
	struct hangups *h = signal->data;

	(void)number; /* There is but one. */
	if (uv_is_active((uv_handle_t *)&h->pace))
		h->waiting = true;
	else
		read_now(h);
}

void hangups_start(struct hangups *h, uv_loop_t *loop, uint64_t pace_ms, void (*read)(void *arg),
		   void *arg)
{
	*h = (struct hangups){.pace_ms = pace_ms, .read = read, .arg = arg};
	/* These fail only for want of memory or descriptors, which the loop's own have just taken.
	 */
	(void)uv_signal_init(loop, &h->signal);
	(void)uv_timer_init(loop, &h->pace);
	h->signal.data = h->pace.data = h;
	(void)uv_signal_start(&h->signal, on_signal, SIGHUP);
}

void hangups_close(struct hangups *h)
{
	uv_close((uv_handle_t *)&h->signal, NULL);
	uv_close((uv_handle_t *)&h->pace, NULL);
}

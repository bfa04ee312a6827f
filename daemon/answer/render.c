#include "daemon/answer/render.h"

#include <errno.h>
#include <stdlib.h>

#include "common/cleanup.h"
#include "daemon/shares/pool_work.h"
#include "daemon/shares/shares.h"
#include "profile/window/tables.h"
#include "proto/frame.h"
#include "proto/limits.h"

/* Room in a reply for what is not the report's text. */
#define DOCUMENT_OVERHEAD_BYTES 1024

struct render {
	struct pool_work work;
	struct renders *renders;
	struct render *next; /* of those that wait */
	struct render_job job;
	render_done_fn done;
	void *arg;
	uid_t user;
	size_t max_bytes;    /* of its text */
	uint64_t started_ns; /* 0: it waits */
	int begun;           /* what the job's begin returned, with its line */
	struct err why;
	struct buffer frame;
};

struct renders {
	uv_loop_t *loop;
	struct render *first; /* that waits */
	struct render **last;
	struct render *on_pool[RENDERS_MAX];
	struct shares running;
	struct shares work;   /* of the last while, nanoseconds */
	uint64_t halved_ns;   /* when that was halved last */
	struct shares unread; /* bytes */
	bool freed;
};

static void free_render(struct render *render)
{
	render->job.release(render->job.arg);
	buffer_release(&render->frame);
	free(render);
}

/* ---------------------------------------------------------------- on the pool */

void render_describe_end(Jxp__Document *document, const struct window_result *w)
{
	if (w->state != WINDOW_ENDED_EARLY && w->state != WINDOW_SALVAGED)
		return;
	document->end =
	    w->target_ended ? JXP__DOCUMENT__END__TARGET_ENDED : JXP__DOCUMENT__END__EARLY;
	document->reason = (char *)w->reason;
}

/* about: NULL for what is of no single window. */
static int pack(struct render *render, const struct window_result *about, char *text, size_t size)
{
	Jxp__Document document = JXP__DOCUMENT__INIT;
	Jxp__ControlReply reply = JXP__CONTROL_REPLY__INIT;

	if (about) {
		document.window = (char *)about->id;
		document.app = (char *)about->app;
		render_describe_end(&document, about);
	}
	document.text.data = (uint8_t *)text;
	document.text.len = size;
	reply.body_case = JXP__CONTROL_REPLY__BODY_DOCUMENT;
	reply.document = &document;
	reply.protocol = PROTOCOL_VERSION;
	return frame_append(&render->frame, &reply.base, FRAME_MAX_REPLY);
}

static int write_answer(void *arg, const atomic_bool *cancelled, struct err *err)
{
	struct render *render = arg;
	const struct window_result *about = NULL;
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	int r;

	if (render->begun < 0) {
		*err = render->why;
		return render->begun;
	}
	r = render->job.write(render->job.arg, cancelled, render->max_bytes, &text, &size, &about,
			      err);
	if (r < 0)
		return r;
	r = pack(render, about, text, size);
	return r < 0 ? err_set_errno(err, -r, "cannot pack the report") : 0;
}

/* ---------------------------------------------------------------- on the loop */

static void start_next(struct renders *r);

static void free_renders(struct renders *r)
{
	shares_release(&r->running);
	shares_release(&r->work);
	shares_release(&r->unread);
	free(r);
}

/* Does b come before a, which waits longer? */
static bool comes_before(const struct renders *r, const struct render *b, const struct render *a)
{
	if (a->user == SHARES_ADMINS || b->user == SHARES_ADMINS)
		return a->user != SHARES_ADMINS;
	return shares_of(&r->work, b->user) < shares_of(&r->work, a->user);
}

static bool may_begin(const struct renders *r, uid_t user)
{
	return shares_check(&r->running, user, 1, NULL) == 0 &&
	       shares_check(&r->unread, user, 1, NULL) == 0;
}

/* Whose turn it is, or NULL: none waits that may begin. */
static struct render *whose_turn(struct renders *r)
{
	struct render *best = NULL;

	for (struct render *at = r->first; at; at = at->next)
		if (may_begin(r, at->user) && (!best || comes_before(r, at, best)))
			best = at;
	return best;
}

static void forget_long_ago(struct renders *r)
{
	uint64_t now = clock_monotonic_ns();

	if (now - r->halved_ns < RENDERS_HALVED_NS)
		return;
	r->halved_ns = now;
	shares_halve(&r->work);
}

/* Without memory it is not counted, and its user's next turn comes early. */
static void count_work(struct renders *r, const struct render *render)
{
	shares_give(&r->running, render->user, 1);
	forget_long_ago(r);
	(void)shares_add(&r->work, render->user, clock_monotonic_ns() - render->started_ns);
}

static void on_written(void *arg, int result, const char *message)
{
	struct render *render = arg;

	render->done(render->arg, result < 0 ? NULL : &render->frame, result < 0 ? -result : 0,
		     message);
}

static void leave_pool(void *arg)
{
	struct render *render = arg;
	struct renders *r = render->renders;
	bool busy = false;

	for (size_t i = 0; i < RENDERS_MAX; i++) {
		if (r->on_pool[i] == render)
			r->on_pool[i] = NULL;
		busy |= r->on_pool[i] != NULL;
	}
	count_work(r, render);
	free_render(render);
	if (!r->freed)
		start_next(r);
	else if (!busy)
		free_renders(r);
}

static void unlink_waiting(struct renders *r, struct render *render)
{
	struct render **at = &r->first;

	while (*at != render)
		at = &(*at)->next;
	*at = render->next;
	if (r->last == &render->next)
		r->last = at;
}

static void start_next(struct renders *r)
{
	static const struct pool_task task = {
	    .run = write_answer, .done = on_written, .release = leave_pool};

	for (size_t i = 0; i < RENDERS_MAX && r->first; i++) {
		struct render *render;

		if (r->on_pool[i])
			continue;
		render = whose_turn(r);
		if (!render || shares_take(&r->running, render->user, 1, NULL) < 0)
			return;
		unlink_waiting(r, render);
		render->begun = render->job.begin(render->job.arg, &render->why);
		render->started_ns = clock_monotonic_ns();
		r->on_pool[i] = render;
		pool_work_start(&render->work, r->loop, &task, render);
	}
}

int render_start(struct render **out, struct renders *r, uid_t user, const struct render_job *job,
		 render_done_fn done, void *arg)
{
	struct render *render = calloc(1, sizeof(*render));

	if (!render)
		return -ENOMEM;
	render->renders = r;
	render->user = user;
	render->max_bytes =
	    (user == SHARES_ADMINS ? FRAME_MAX_REPLY : RENDERS_UNREAD_OF_USER_BYTES) -
	    DOCUMENT_OVERHEAD_BYTES;
	render->job = *job;
	render->done = done;
	render->arg = arg;
	buffer_init(&render->frame, FRAME_MAX_REPLY + FRAME_HEADER_BYTES);
	*r->last = render;
	r->last = &render->next;
	*out = render;
	start_next(r);
	return 0;
}

/* ---------------------------------------------------------------- its end */

void render_cancel(struct render *render)
{
	if (!render)
		return;
	if (render->started_ns) {
		pool_work_cancel(&render->work); /* leave_pool frees it. */
		return;
	}
	unlink_waiting(render->renders, render);
	free_render(render);
}

int renders_take(struct renders *r, uid_t user, size_t bytes, struct err *err)
{
	return shares_take(&r->unread, user, bytes, err);
}

int renders_queued(struct renders *r, uid_t user, size_t bytes)
{
	return shares_add(&r->unread, user, bytes);
}

void renders_read(struct renders *r, uid_t user, size_t bytes)
{
	shares_give(&r->unread, user, bytes);
	start_next(r);
}

struct renders *renders_new(uv_loop_t *loop)
{
	static const struct share_limits one_each = {.things = "reports being written",
						     .advice = "wait until they are there",
						     .all = RENDERS_MAX,
						     .of_user = 1};
	static const struct share_limits unread = {.things =
						       "bytes of answers that wait to be read",
						   .advice = "let 'jxperfctl' read them first",
						   .all = RENDERS_UNREAD_MAX_BYTES,
						   .reserved = RENDERS_UNREAD_RESERVED_BYTES,
						   .of_user = RENDERS_UNREAD_OF_USER_BYTES};
	static const struct share_limits none = {0}; /* It is only added up. */
	struct renders *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->loop = loop;
	r->last = &r->first;
	r->halved_ns = clock_monotonic_ns();
	shares_init(&r->running, &one_each);
	shares_init(&r->work, &none);
	shares_init(&r->unread, &unread);
	return r;
}

void renders_free(struct renders *r)
{
	bool busy = false;

	if (!r)
		return;
	while (r->first)
		render_cancel(r->first);
	for (size_t i = 0; i < RENDERS_MAX; i++) {
		render_cancel(r->on_pool[i]);
		busy |= r->on_pool[i] != NULL;
	}
	r->freed = true;
	if (!busy)
		free_renders(r);
}

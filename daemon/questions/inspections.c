#include "daemon/questions/inspections.h"

#include <errno.h>
#include <stdlib.h>

#include "common/clock.h"
#include "daemon/shares/shares.h"
#include "profile/intake/stream.h"
#include "proto/failure.h"
#include "proto/limits.h"

/* After that work counts for half. */
#define HALVED_NS (10 * NS_PER_S)

/* Whose places a question may have: INSPECTIONS_MAX in all, or one. */
enum inspection_lane { LANE_USERS, LANE_SURVEY, LANE_JARS, LANES };

struct inspection {
	struct inspections *all;
	struct inspection *next;
	uid_t user;
	enum inspection_lane lane;
	struct broker_request question;
	uint64_t begun_ns;       /* 0: it waits */
	int request;             /* to the broker; 0: it is not asked, or has answered */
	struct stream *stream;   /* from the inspector */
	inspection_done_fn done; /* NULL: it has run, or nobody asks any more */
	void *arg;
};

struct inspections {
	uv_loop_t *loop;
	struct broker_client *broker;
	struct shares begun;      /* of LANE_USERS */
	bool lane_begun[LANES];   /* of the others, the one at a time */
	struct shares work;       /* of the last while, nanoseconds */
	uint64_t halved_ns;       /* when it was last */
	struct inspection *first; /* oldest first: those that have begun and those that wait */
};

/* ---------------------------------------------------------------- places */

/* Of one that may begin. False without memory. */
static bool take_place(struct inspection *i)
{
	struct inspections *all = i->all;

	if (i->lane != LANE_USERS)
		all->lane_begun[i->lane] = true;
	else if (shares_add(&all->begun, i->user, 1) < 0)
		return false;
	i->begun_ns = clock_monotonic_ns();
	return true;
}

/* Without memory its work is not counted, and its user's next turn comes early. */
static void give_place(struct inspection *i)
{
	struct inspections *all = i->all;
	uint64_t now = clock_monotonic_ns();

	all->lane_begun[i->lane] = false;
	if (i->lane == LANE_SURVEY)
		return;
	if (i->lane == LANE_USERS)
		shares_give(&all->begun, i->user, 1);
	if (now - all->halved_ns >= HALVED_NS) {
		all->halved_ns = now;
		shares_halve(&all->work);
	}
	(void)shares_add(&all->work, i->user, now - i->begun_ns);
}

static bool may_begin(const struct inspection *i)
{
	return !i->begun_ns &&
	       (i->lane != LANE_USERS ? !i->all->lane_begun[i->lane]
				      : !shares_check(&i->all->begun, i->user, 1, NULL));
}

/* Does b come before a, which waits longer? */
static bool comes_before(const struct inspection *b, const struct inspection *a)
{
	return shares_of(&b->all->work, b->user) < shares_of(&a->all->work, a->user);
}

/* Whose turn it is, or NULL: none waits that may begin. */
static struct inspection *whose_turn(struct inspections *all)
{
	struct inspection *best = NULL;

	for (struct inspection *i = all->first; i; i = i->next)
		if (may_begin(i) && (!best || comes_before(i, best)))
			best = i;
	return best;
}

/* ---------------------------------------------------------------- answers */

static void begin(struct inspection *i);

/* One at a time: the list may be another one after each. */
static void begin_next(struct inspections *all)
{
	struct inspection *i = whose_turn(all);

	if (!i || !take_place(i))
		return;
	begin(i);
	begin_next(all);
}

static void take_out(struct inspection *i)
{
	struct inspection **at = &i->all->first;

	while (*at != i)
		at = &(*at)->next;
	*at = i->next;
	if (i->begun_ns)
		give_place(i);
	if (i->request)
		broker_client_forget(i->all->broker, i->request);
	stream_free(i->stream);
	free(i);
}

static void tell(struct inspection *i, Jxp__ControlReply *answer)
{
	inspection_done_fn done = i->done;

	i->done = NULL;
	if (done)
		done(i->arg, answer);
}

static void tell_failure(struct inspection *i, const char *message)
{
	struct failure_reply f;

	failure_reply_init(&f, message, false);
	tell(i, &f.reply);
}

/* Its inspector has ended, or there is none. */
static void end(struct inspection *i, const char *failure)
{
	struct inspections *all = i->all;

	tell_failure(i, failure);
	take_out(i);
	begin_next(all);
}

/* An inspector reads what JVMs wrote, so its answer is not taken for granted either. */
static bool is_answer(const Jxp__ControlReply *reply)
{
	return reply && (reply->body_case == JXP__CONTROL_REPLY__BODY_CHECK ||
			 reply->body_case == JXP__CONTROL_REPLY__BODY_JVMS ||
			 reply->body_case == JXP__CONTROL_REPLY__BODY_FAILURE);
}

static void on_frame(void *arg, const uint8_t *payload, size_t size)
{
	Jxp__ControlReply *reply = jxp__control_reply__unpack(NULL, size, payload);

	if (is_answer(reply))
		tell(arg, reply);
	else
		tell_failure(arg, "looking at processes gave no valid answer");
	if (reply)
		jxp__control_reply__free_unpacked(reply, NULL);
}

static void on_end(void *arg, const char *reason)
{
	(void)reason; /* Whether it was killed in the middle of a frame makes no difference. */
	end(arg, "looking at processes took too long or failed: a file system that one of them "
		 "uses may not answer");
}

static void on_reply(void *arg, const struct broker_reply *reply, int *fds)
{
	static const struct stream_limits limits = {.in_frame = FRAME_MAX_REPLY, .out_frame = 1};
	struct inspection *i = arg;
	const struct stream_callbacks callbacks = {.arg = i, .frame = on_frame, .end = on_end};
	struct err err;

	i->request = 0;
	if (reply->error || reply->fds != 1)
		end(i, reply->error ? reply->message : "the broker gave no connection");
	else if (stream_new(&i->stream, i->all->loop, fds[0], &limits, &callbacks, &err) < 0)
		end(i, err.message);
	else
		fds[0] = -1; /* The stream's now. */
}

static void begin(struct inspection *i)
{
	int r = broker_client_ask(i->all->broker, &i->question, on_reply, i);
	struct err err;

	if (r < 0) {
		(void)err_set_errno(&err, -r, "cannot ask the privileged half of jxperfd");
		end(i, err.message);
		return;
	}
	i->request = r;
}

/* ---------------------------------------------------------------- questions */

struct inspections *inspections_new(uv_loop_t *loop, struct broker_client *broker)
{
	static const struct share_limits begun = {.things = "looks at processes",
						  .advice = "wait until they are over",
						  .all = INSPECTIONS_MAX,
						  .of_user = 1};
	static const struct share_limits none = {0}; /* Work is only compared. */
	struct inspections *all = calloc(1, sizeof(*all));

	if (!all)
		return NULL;
	*all = (struct inspections){.loop = loop, .broker = broker};
	shares_init(&all->begun, &begun);
	shares_init(&all->work, &none);
	return all;
}

void inspections_free(struct inspections *all)
{
	if (!all)
		return;
	while (all->first)
		take_out(all->first);
	shares_release(&all->begun);
	shares_release(&all->work);
	free(all);
}

static int ask(struct inspection **out, const struct inspection *asked)
{
	struct inspection *i = malloc(sizeof(*i)), **last = &asked->all->first;

	if (!i)
		return -ENOMEM;
	*i = *asked;
	i->question.operation = BROKER_INSPECT;
	while (*last)
		last = &(*last)->next;
	*last = i;
	*out = i;
	begin_next(i->all);
	return 0;
}

int inspections_ask(struct inspection **out, struct inspections *all, uid_t user,
		    const struct broker_request *question, inspection_done_fn done, void *arg)
{
	const struct inspection asked = {
	    .all = all, .user = user, .question = *question, .done = done, .arg = arg};

	return ask(out, &asked);
}

int inspections_ask_for_jar(struct inspection **out, struct inspections *all, uid_t user,
			    const struct broker_request *question, inspection_done_fn done,
			    void *arg)
{
	const struct inspection asked = {.all = all,
					 .lane = LANE_JARS,
					 .user = user,
					 .question = *question,
					 .done = done,
					 .arg = arg};

	return ask(out, &asked);
}

int inspections_ask_for_survey(struct inspection **out, struct inspections *all,
			       const struct broker_request *question, inspection_done_fn done,
			       void *arg)
{
	const struct inspection asked = {.all = all,
					 .lane = LANE_SURVEY,
					 .user = PROC_ANY_UID,
					 .question = *question,
					 .done = done,
					 .arg = arg};

	return ask(out, &asked);
}

void inspections_give_up_survey(struct inspections *all)
{
	struct inspection *next;

	for (struct inspection *i = all->first; i; i = next) {
		next = i->next;
		if (i->lane == LANE_SURVEY)
			take_out(i);
	}
}

void inspection_forget(struct inspection *i)
{
	if (!i)
		return;
	i->done = NULL;
	if (!i->begun_ns)
		take_out(i);
}

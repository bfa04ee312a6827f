#include "daemon/schedule/survey.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/log.h"
#include "common/proc.h"
#include "daemon/broker/client.h"
#include "daemon/questions/inspections.h"
#include "daemon/inspector/inspector.h"
#include "daemon/schedule/newcomers.h"
#include "daemon/schedule/planner.h"
#include "daemon/schedule/sightings.h"

/* The broker ends an inspector before. */

const struct survey_pace survey_pace_usual = {
    .round_ms = 10000, .slow_round_ms = 60000, .patience_ms = INSPECTOR_TIMEOUT_MS + 5000};

struct survey {
	struct inspections *inspections;
	struct broker_client *broker;
	struct planner *planner;
	void (*changed)(void *arg);
	void *arg;
	struct sightings sightings;
	struct newcomers newcomers;
	int discover_request;             /* to the broker; 0: none */
	struct inspection *answer;        /* of the round or look under way, or NULL */
	pid_t looked_at[BROKER_PIDS_MAX]; /* in this look; */
	size_t look_count;                /* 0: it is a round */
	/* CLOCK_MONOTONIC: when the last round ended, 0: none is to be waited for; and when what is
	 * under way is given up. */
	uint64_t round_ns;
	uint64_t give_up_ns;
	uint64_t passed_ns; /* likewise: up to when the planner knows that time has passed */
	const struct survey_pace *pace;
	bool rounds_fail; /* the last one did, which was logged; */
	bool left_out;    /* it had not all JVMs, likewise */
	bool works;       /* else it rests */
	bool away;        /* the broker is: nobody can be asked */
};

static uint64_t round_due_ns(const struct survey *s)
{
	bool slow = s->newcomers.works && !s->newcomers.behind;

	return s->round_ns
		   ? s->round_ns + (slow ? s->pace->slow_round_ms : s->pace->round_ms) * NS_PER_MS
		   : 0;
}

uint64_t survey_due_ns(const struct survey *s)
{
	uint64_t round = round_due_ns(s), look = newcomers_due_ns(&s->newcomers);

	if (!s->works || s->away)
		return UINT64_MAX;
	if (s->answer)
		return s->give_up_ns;
	return round < look ? round : look;
}

/* ---------------------------------------------------------------- rounds and looks */

static bool is_look(const struct survey *s)
{
	return s->look_count > 0;
}

static void end_question(struct survey *s)
{
	inspection_forget(s->answer);
	s->answer = NULL;
	if (!is_look(s))
		s->round_ns = clock_monotonic_ns();
	s->look_count = 0;
}

/* Likewise where its inspector need not be waited for. */
static void give_up(struct survey *s)
{
	inspections_give_up_survey(s->inspections);
	s->answer = NULL;
	end_question(s);
}

/* A round's failure is said once, until one works again; what a look did not see the next round
 * does. */
static void question_failed(struct survey *s, const char *reason)
{
	char quoted[LOG_QUOTED_BYTES];

	if (is_look(s)) {
		newcomers_look_failed(&s->newcomers);
		return;
	}
	if (!s->rounds_fail) {
		(void)log_quote(quoted, sizeof(quoted), reason);
		log_warn("schedules: cannot list the JVMs: %s", quoted);
	}
	s->rounds_fail = true;
}

/* Has the broker say when they end. What cannot be asked a round finds out. */
static void follow(struct survey *s, const Jxp__JvmList *list)
{
	struct broker_request request = {.operation = BROKER_FOLLOW};
	uint32_t *count = &request.pid_count;

	for (size_t i = 0; s->newcomers.works && i < list->n_jvms; i++) {
		if (list->jvms[i]->pid - 1 < INT_MAX) /* An inspector's word, so it is checked. */
			request.pids[(*count)++] = (pid_t)list->jvms[i]->pid;
		if (*count > 0 && (*count == BROKER_PIDS_MAX || i + 1 == list->n_jvms)) {
			(void)broker_client_ask(s->broker, &request, NULL, NULL);
			*count = 0;
		}
	}
}

static int tell(struct survey *s, const Jxp__JvmList *list)
{
	uint64_t boot_ns = clock_ns(CLOCK_BOOTTIME);

	return is_look(s) ? sightings_tell_some(&s->sightings, list, s->looked_at, s->look_count,
						boot_ns, s->planner)
			  : sightings_tell(&s->sightings, list, boot_ns, s->planner);
}

static void tell_of_left_out(struct survey *s, uint32_t count)
{
	if (count > 0 && !s->left_out)
		log_warn("schedules: there are too many JVMs: %u of them have no windows", count);
	s->left_out = count > 0;
}

static void take_list(struct survey *s, const Jxp__JvmList *list)
{
	survey_pass_time(s); /* For those that were known. */
	if (tell(s, list) < 0) {
		question_failed(s, "out of memory");
		return;
	}
	follow(s, list);
	if (is_look(s))
		return;
	if (s->rounds_fail)
		log_info("schedules: the JVMs can be listed again");
	s->rounds_fail = false;
	tell_of_left_out(s, list->left_out);
}

static void on_answer(void *arg, Jxp__ControlReply *answer)
{
	struct survey *s = arg;

	s->answer = NULL;
	if (answer->body_case == JXP__CONTROL_REPLY__BODY_JVMS)
		take_list(s, answer->jvms);
	else
		question_failed(s, answer->body_case == JXP__CONTROL_REPLY__BODY_FAILURE
				       ? answer->failure->message
				       : "that is no list");
	end_question(s);
	s->changed(s->arg);
}

/* Asks for all processes, or those that are looked at. */
static void ask(struct survey *s)
{
	struct broker_request question = {
	    .pid = INSPECTOR_LIST, .owner = PROC_ANY_UID, .pid_count = (uint32_t)s->look_count};

	memcpy(question.pids, s->looked_at, s->look_count * sizeof(*s->looked_at));
	s->give_up_ns = clock_monotonic_ns() + s->pace->patience_ms * NS_PER_MS;
	if (inspections_ask_for_survey(&s->answer, s->inspections, &question, on_answer, s) < 0) {
		question_failed(s, "out of memory");
		end_question(s);
	}
}

static void begin_round(struct survey *s)
{
	newcomers_begin_round(&s->newcomers);
	ask(s);
}

static void begin_look(struct survey *s)
{
	s->look_count = newcomers_begin_look(&s->newcomers, s->looked_at, clock_monotonic_ns());
	ask(s);
}

void survey_turn(struct survey *s)
{
	if (s->answer) {
		question_failed(s, "no answer in time");
		give_up(s);
	} else if (clock_monotonic_ns() >= round_due_ns(s)) {
		begin_round(s);
	} else {
		begin_look(s);
	}
}

void survey_pass_time(struct survey *s)
{
	uint64_t now = clock_monotonic_ns();

	planner_pass_time(s->planner, now - s->passed_ns);
	s->passed_ns = now;
}

/* ---------------------------------------------------------------- what the broker says */

static void on_discover(void *arg, const struct broker_reply *reply, int *fds)
{
	struct survey *s = arg;

	(void)fds; /* There are none. */
	s->discover_request = 0;
	newcomers_set(&s->newcomers, !reply->error);
	if (reply->error == EPIPE)
		return; /* The kernel was not asked; the next broker is. */
	if (reply->error)
		log_info("schedules: the kernel does not tell of processes that start (%s): JVMs "
			 "are found by a look at all processes every %" PRIu64 " s",
			 reply->message, s->pace->round_ms / 1000);
	else
		log_info("schedules: JVMs are found as they start");
	s->changed(s->arg);
}

static void on_switched_off(void *arg, const struct broker_reply *reply, int *fds)
{
	struct survey *s = arg;

	(void)reply; /* Either way it is off. */
	(void)fds;
	s->discover_request = 0;
}

/* Before the next round is asked for, so that what it lists can be followed. A broker that is gone
 * ends the daemon, or is asked when it is back. */
static void discover(struct survey *s, bool on)
{
	const struct broker_request request = {.operation = BROKER_DISCOVER, .switch_on = on};
	int r;

	if (s->discover_request > 0)
		broker_client_forget(s->broker, s->discover_request);
	newcomers_set(&s->newcomers, false);
	r = broker_client_ask(s->broker, &request, on ? on_discover : on_switched_off, s);
	s->discover_request = r > 0 ? r : 0;
}

void survey_lost_broker(struct survey *s)
{
	s->away = true;
	newcomers_set(&s->newcomers, false);
	if (s->answer)
		give_up(s);
	if (s->works)
		s->changed(s->arg);
}

void survey_has_broker(struct survey *s)
{
	s->away = false;
	newcomers_have_broker(&s->newcomers);
	if (!s->works)
		return;
	discover(s, true);
	s->round_ns = 0; /* What started and ended meanwhile, nobody has told. */
	s->changed(s->arg);
}

void survey_take_event(struct survey *s, const struct broker_event *event)
{
	if (!s->works || !s->newcomers.works)
		return;
	if (event->kind == BROKER_EVENT_ENDED)
		sightings_forget(&s->sightings, event->pid, s->planner);
	newcomers_take(&s->newcomers, event, sightings_know(&s->sightings, event->pid),
		       clock_monotonic_ns());
	s->changed(s->arg);
}

/* ---------------------------------------------------------------- life */

struct survey *survey_new(struct inspections *inspections, struct broker_client *broker,
			  struct planner *planner, const struct survey_pace *pace,
			  void (*changed)(void *arg), void *arg)
{
	struct survey *s = calloc(1, sizeof(*s));

	if (s)
		*s = (struct survey){.inspections = inspections,
				     .broker = broker,
				     .planner = planner,
				     .changed = changed,
				     .arg = arg,
				     .passed_ns = clock_monotonic_ns(),
				     .pace = pace};
	return s;
}

void survey_free(struct survey *s)
{
	if (!s)
		return;
	inspection_forget(s->answer);
	if (s->discover_request > 0)
		broker_client_forget(s->broker, s->discover_request);
	sightings_release(&s->sightings);
	free(s);
}

void survey_start(struct survey *s)
{
	if (s->answer)
		end_question(s);
	s->round_ns = 0;
	if (!s->works)
		discover(s, true);
	s->works = true;
}

void survey_stop(struct survey *s)
{
	if (s->answer)
		end_question(s);
	if (s->works)
		discover(s, false);
	s->works = false;
}

const struct newcomers *survey_newcomers(const struct survey *s)
{
	return &s->newcomers;
}

/*
 * A run from inside (daemon/engine/run.h), and what it hears from its agent: the window begins,
 * grows and ends by it; its questions about events go to the broker. For run.c and run_frames.c
 * only.
 */
#ifndef JXPERF_DAEMON_ENGINE_RUN_FRAMES_H
#define JXPERF_DAEMON_ENGINE_RUN_FRAMES_H

#include "daemon/engine/app_name.h"
#include "daemon/engine/code_work.h"
#include "daemon/engine/conversation.h"
#include "daemon/engine/gate_control.h"
#include "daemon/engine/guard.h"
#include "daemon/engine/numa_query.h"
#include "daemon/engine/run_owner.h"
#include "daemon/engine/run_state.h"
#include "profile/intake/intake.h"

struct inspection;

struct run {
	uv_timer_t timer; /* of the state's limit */
	struct run_context context;
	struct run_callbacks callbacks;
	struct window_result *result;
	enum run_state state;
	bool prolonged;                   /* the limit of GREETING was put off */
	char reason[WINDOW_REASON_BYTES]; /* why it is to end before its time, or "" */
	uint64_t deadline_ns; /* at which the agent ends the window by itself; 0 before it began */
	int attach_request;   /* ids of open requests to the broker, or 0 */
	int event_request;
	struct inspection *naming;        /* how the rules see the JVM, while it is asked for; */
	char program_app[APP_NAME_BYTES]; /* and what it is without rules */
	uint64_t start_ticks;             /* of the JVM, once it was attached to */
	uint32_t event_tid;               /* of event_request */
	int refused;  /* errno value with which the agent refused the window before it began, or was
		       * sent away itself; or 0 */
	int agent_fd; /* until there is a conversation, or -1 */
	int gate_program;                  /* until the agent has it, or -1 */
	struct conversation *conversation; /* from GREETING on */
	struct intake intake;
	struct gate_control gate;
	struct numa_query numa;
	struct run_analysis {
		struct run *run;
		enum code_use use;
		struct code_work work;
	} analyses[CODE_USES];
	uint64_t hunted_ns;     /* when loops were looked for last */
	struct guard *guard;    /* NULL: nothing is seen of side effects */
	uint64_t met_told_ns;   /* when the agent was told last what tracking objects brings */
	uint64_t accesses_told; /* and of how many accesses */
	uint64_t accessed_bytes_told;
};

/* The one place where the state changes; to what may follow it. */
void run_move(struct run *r, enum run_state to);

/* The run could not be: an errno value above 0, and why. Frees it. */
void run_fail(struct run *r, int error, const char *message);

/* The window ends: everything that has arrived is in it. reason NULL: as planned. */
void run_end_window(struct run *r, const char *reason);

/* The conversation is over, and so is the window; the gate's last counts belong to it. From the
 * loop; may free the run. */
void run_hang_up(struct run *r, const char *reason);

/* The same from inside a call of somebody else's: it is done when the loop comes round. */
void run_break_off(struct run *r, const char *reason);

/* The agent is connected and the gate is open, or there is none: waits for its hello. May fail and
 * so free the run. */
void run_greet(struct run *r);

#endif

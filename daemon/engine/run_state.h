/*
 * The states of a run (daemon/engine/run.h), what may follow what, and how long each may last: the
 * whole of it, without doing anything.
 *
 *   WAITING ──▶ ATTACHING ──▶ OPENING_GATE ──▶ GREETING ──▶ RUNNING ──▶ STOPPING ──▶ LEAVING
 *                   └──────┬───────┘               └───────────┴─────┬──────┴───────────┘
 *                      CANCELLED                              (BREAKING_OFF)
 *                          └──────────▶ ENDED ◀── CLOSING_GATE ◀─────┘
 *
 * WAITING is passed at once, unless a window of a schedule has to leave the JVM first. An agent may
 * also end by itself, from RUNNING to LEAVING, and an attach may fail. Each state but the last has
 * a limit, so that nothing that a broker or an agent leaves undone keeps a run for ever.
 */
#ifndef JXPERF_DAEMON_ENGINE_RUN_STATE_H
#define JXPERF_DAEMON_ENGINE_RUN_STATE_H

#include <stdbool.h>
#include <stdint.h>

/* For another window of the same JVM to end: longer than the limits of its states together. */
#define RUN_WAITING_MS  60000
#define RUN_GREETING_MS 5000
/* ... where more threads want to run than there are processors. */
#define RUN_GREETING_MOST_MS 20000
/* The agent disarms every thread and drains its rings. */
#define RUN_STOPPING_MS 10000
/* The agent gives its memory back. */
#define RUN_LEAVING_MS 1000

enum run_state {
	RUN_WAITING,      /* nothing was asked of anybody yet */
	RUN_ATTACHING,    /* the broker's helper is at work */
	RUN_OPENING_GATE, /* the agent is connected, the broker was asked for a gate */
	RUN_CANCELLED,    /* stopped before the agent was heard of: the broker's answer ends it */
	RUN_GREETING,     /* the agent's hello is awaited */
	RUN_RUNNING,
	RUN_STOPPING,     /* the agent was told to end the window */
	RUN_LEAVING,      /* the window has ended, the agent is about to close its end */
	RUN_BREAKING_OFF, /* the conversation cannot go on: it ends when the loop comes round */
	RUN_CLOSING_GATE, /* the conversation is over, the gate's last counts are awaited */
	RUN_ENDED,
	RUN_STATES,
};

/* What a state's limit depends on. */
struct run_limits {
	uint64_t patience_ms; /* with the broker */
	uint64_t attach_ms;   /* that was asked for, or 0 */
	uint64_t duration_ms; /* of the window */
};

#define RUN_NO_LIMIT   UINT64_MAX
#define RUN_SAME_LIMIT (UINT64_MAX - 1)

bool run_state_may_follow(enum run_state from, enum run_state to);

/* After how many ms in the state something is done about it; RUN_SAME_LIMIT: that of the state
 * before goes on; RUN_NO_LIMIT: never. */
uint64_t run_state_limit_ms(enum run_state state, const struct run_limits *limits);

#endif

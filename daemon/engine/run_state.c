#include "daemon/engine/run_state.h"

enum wait {
	WAIT_NONE,
	WAIT_SAME,
	WAIT_BROKER,
	WAIT_ATTACH,
	WAIT_WINDOW,
	WAIT_FIXED,
};

#define TO(state) (1u << (state))
/* Whatever ends a conversation. */
#define TO_END (TO(RUN_BREAKING_OFF) | TO(RUN_CLOSING_GATE))

static const struct {
	unsigned next;
	enum wait wait;
	uint64_t fixed_ms;
} rules[RUN_STATES] = {
    [RUN_WAITING] = {TO(RUN_ATTACHING) | TO(RUN_ENDED), WAIT_FIXED, RUN_WAITING_MS},
    [RUN_ATTACHING] = {TO(RUN_OPENING_GATE) | TO(RUN_CANCELLED) | TO(RUN_ENDED), WAIT_ATTACH, 0},
    [RUN_OPENING_GATE] = {TO(RUN_GREETING) | TO(RUN_CANCELLED) | TO(RUN_ENDED), WAIT_BROKER, 0},
    [RUN_CANCELLED] = {TO(RUN_ENDED), WAIT_SAME, 0},
    [RUN_GREETING] = {TO(RUN_RUNNING) | TO_END, WAIT_FIXED, RUN_GREETING_MS},
    [RUN_RUNNING] = {TO(RUN_STOPPING) | TO(RUN_LEAVING) | TO_END, WAIT_WINDOW, 0},
    [RUN_STOPPING] = {TO(RUN_LEAVING) | TO_END, WAIT_FIXED, RUN_STOPPING_MS},
    [RUN_LEAVING] = {TO_END, WAIT_FIXED, RUN_LEAVING_MS},
    [RUN_BREAKING_OFF] = {TO(RUN_CLOSING_GATE), WAIT_FIXED, 0},
    [RUN_CLOSING_GATE] = {TO(RUN_ENDED), WAIT_BROKER, 0},
    [RUN_ENDED] = {0, WAIT_NONE, 0},
};

bool run_state_may_follow(enum run_state from, enum run_state to)
{
	return rules[from].next & TO(to);
}

uint64_t run_state_limit_ms(enum run_state state, const struct run_limits *limits)
{
	switch (rules[state].wait) {
	case WAIT_SAME:
		return RUN_SAME_LIMIT;
	case WAIT_BROKER:
		return limits->patience_ms;
	case WAIT_ATTACH:
		return limits->patience_ms + limits->attach_ms;
	case WAIT_WINDOW:
		return limits->duration_ms;
	case WAIT_FIXED:
		return rules[state].fixed_ms;
	case WAIT_NONE:
		break;
	}
	return RUN_NO_LIMIT;
}

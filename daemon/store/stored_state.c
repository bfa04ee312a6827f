#include "daemon/store/stored_state.h"

static const struct {
	enum window_state state;
	Jxp__StoredWindow__State stored;
} states[] = {
    {WINDOW_ATTACHING, JXP__STORED_WINDOW__STATE__ATTACHING},
    {WINDOW_RUNNING, JXP__STORED_WINDOW__STATE__RUNNING},
    {WINDOW_DONE, JXP__STORED_WINDOW__STATE__DONE},
    {WINDOW_ENDED_EARLY, JXP__STORED_WINDOW__STATE__ENDED_EARLY},
    {WINDOW_FAILED, JXP__STORED_WINDOW__STATE__FAILED},
    {WINDOW_SALVAGED, JXP__STORED_WINDOW__STATE__SALVAGED},
};

#define STATES (sizeof(states) / sizeof(states[0]))

Jxp__StoredWindow__State stored_state(enum window_state state)
{
	size_t i = 0;

	while (states[i].state != state) /* Each has a row. */
		i++;
	return states[i].stored;
}

bool stored_state_read(uint64_t number, enum window_state *state)
{
	for (size_t i = 0; i < STATES; i++)
		if ((uint64_t)states[i].stored == number) {
			*state = states[i].state;
			return true;
		}
	return false;
}

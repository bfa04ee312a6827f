/*
 * The number of a window's state in a file, which is for ever (StoredWindow.State of
 * proto/store.proto): in its record and in its row.
 */
#ifndef JXPERF_DAEMON_STORE_STORED_STATE_H
#define JXPERF_DAEMON_STORE_STORED_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/window/result.h"
#include "proto/store.pb-c.h"

Jxp__StoredWindow__State stored_state(enum window_state state);

/* False, with *state unchanged, for a number that is none. */
bool stored_state_read(uint64_t number, enum window_state *state);

#endif

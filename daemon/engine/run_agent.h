/*
 * What a run (daemon/engine/run.h) hears from its agent, and what that means: the window begins,
 * grows and ends by it; its questions about events go to the broker.
 */
#ifndef JXPERF_DAEMON_ENGINE_RUN_AGENT_H
#define JXPERF_DAEMON_ENGINE_RUN_AGENT_H

struct run;

/* The agent is connected and the gate is open, or there is none: waits for its hello. May fail and
 * so free the run. */
void run_agent_greet(struct run *r);

#endif

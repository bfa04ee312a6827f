/*
 * What a run (daemon/engine/run.h) has of its owner: where it lives, and whom it tells.
 */
#ifndef JXPERF_DAEMON_ENGINE_RUN_OWNER_H
#define JXPERF_DAEMON_ENGINE_RUN_OWNER_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/broker/client.h"
#include "profile/window/request.h"

struct inspections;
struct jar_versions;
struct run;

struct run_callbacks {
	void *arg;
	/* The agent said hello and was told to start. */
	void (*started)(void *arg, const struct run *r);
	/* Events were added to the window. */
	void (*progressed)(void *arg, const struct run *r);
	/* The last one: the window is final. error 0: it ran; or an errno value above 0 and why it
	 * could not. The callee frees the run. */
	void (*ended)(void *arg, struct run *r, int error, const char *message);
};

/* Names by a configuration's rules. name: what they call the JVM, in app, and which version of it
 * that is, "" where they do not say; false where none of them names it. rules: are there any?
 * reads_jars: is the version that of the jar where they do not say? All NULL: there are none, and
 * no jar is read. */
struct run_namer {
	void *arg;
	bool (*rules)(void *arg);
	bool (*reads_jars)(void *arg);
	bool (*name)(void *arg, const Jxp__Jvm *jvm, char app[WINDOW_NAME_BYTES],
		     char version[WINDOW_NAME_BYTES]);
};

/* Loop and broker are borrowed. */
struct run_context {
	uv_loop_t *loop;
	struct broker_client *broker;
	struct inspections *inspections; /* borrowed, likewise; asked where the namer has rules */
	struct jar_versions *jars;       /* likewise; asked where it has jars read */
	struct run_namer namer;
	uint64_t patience_ms; /* for each answer of the broker */
	uint64_t tell_ns;     /* at least, between two messages to the agent that its batches give
			       * reason for; 0: every batch may bring one, as fuzzing needs it */
};

#endif

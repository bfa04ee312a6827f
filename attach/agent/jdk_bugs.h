/*
 * Which releases of HotSpot do what we have to leave alone.
 */
#ifndef JXPERF_AGENT_JDK_BUGS_H
#define JXPERF_AGENT_JDK_BUGS_H

#include <stdbool.h>

/*
 * version: the system property java.vm.version, "21.0.13+3-LTS"; NULL is no known one.
 *
 * From JDK 19 on, a native thread that attached while allocations were sampled got two
 * JvmtiThreadStates, and kept one when it ended: the next change of events wrote to where its
 * JavaThread had been (JDK-8319935, fixed in 22). 21.0.13 does not do it, by our own test; which
 * update of 21 was the first is not known to us.
 */
bool jdk_keeps_states_of_attached_threads(const char *version);

#endif

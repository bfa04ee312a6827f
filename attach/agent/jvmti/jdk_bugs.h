/*
 * Some releases of HotSpot do what we have to keep away from.
 */
#ifndef JXPERF_AGENT_JVMTI_JDK_BUGS_H
#define JXPERF_AGENT_JVMTI_JDK_BUGS_H

/*
 * Why allocations must not be sampled in this release, as a clause for an error message, or NULL.
 * version is the system property java.vm.version, such as "21.0.13+3-LTS".
 *
 * Corruption: from 19 on, a native thread that attached while allocations were sampled got two
 * JvmtiThreadStates, and kept one when it ended: the next change of events wrote to where its
 * JavaThread had been (JDK-8319935, fixed in 22). 21.0.13 does not do it, by our own test; which
 * update of 21 was the first is not known to us.
 *
 * Deadlock: in 19, 20 (until JDK-8298853) and 24 (JDK-8341273) the callback waits for all virtual
 * threads that mount or unmount, and one of them may wait for a lock of the allocating thread
 * (JDK-8346727).
 */
const char *jdk_bug_of_allocation_events(const char *version);

#endif

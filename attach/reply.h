/*
 * Reads what a JVM answers to `load` on its attach socket: a status line, then text
 * (src/hotspot/share/services/attachListener.cpp). Recorded from JVMs:
 *
 *   JDK 8       0\n N\n                          loaded, Agent_OnAttach returned N
 *               -1\n                             not loaded
 *   JDK 11, 17  0\n return code: N\n
 *               -1\n PATH was not loaded.\n ...  and dlopen's text
 *               -1\n Agent_OnAttach is not available in PATH\n
 *               -1\n Dynamic agent loading is not enabled. ...
 *   JDK 21, 25  the same texts, but the status is 0 for each of them
 *   JDK 25      0\n Dynamic agent loading is only permitted in the live phase\n
 *   all         101\n                            protocol version unknown (25: no answer)
 *
 * Works on memory; the text is untrusted.
 */
#ifndef JXPERF_ATTACH_REPLY_H
#define JXPERF_ATTACH_REPLY_H

#include <stddef.h>
#include <sys/types.h>

#include "common/err.h"

/* Longest answer read. A failed dlopen is explained in a few hundred bytes. */
#define REPLY_MAX_BYTES 16384

/* text need not be terminated; it is everything that came before the JVM closed the connection. 0
 * when Agent_OnAttach returned AGENT_OK; otherwise err has a sentence about process pid, and the
 * value is -ECONNRESET (no answer), -EPROTO (not understood), -EPERM (dynamic loading is off),
 * -ELIBACC (library not loaded), -EBUSY, -EINVAL, -ENOTSUP, -ENOMEM, -EINPROGRESS (enum
 * agent_on_attach; the last also when a JDK says so itself) or -EREMOTEIO (any other refusal). */
int reply_parse(const char *text, size_t size, pid_t pid, const char *library, struct err *err);

#endif

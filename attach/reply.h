/*
 * What a JVM answers to `load` on its attach socket, for JDK 8 to 25
 * (src/hotspot/share/services/attachListener.cpp, load_agent): a status line, then text.
 *
 *   0\n return code: N\n     the library was loaded, Agent_OnAttach returned N (JDK 8: just N)
 *   0\n ... was not loaded.  dlopen failed, its text follows
 *   N\n text                 refused; N is -1 or a protocol error (100 and up)
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
 * -ELIBACC (library not loaded), -EBUSY, -EINVAL, -ENOTSUP, -ENOMEM (enum agent_on_attach) or
 * -EREMOTEIO (any other refusal). */
int reply_parse(const char *text, size_t size, pid_t pid, const char *library, struct err *err);

#endif

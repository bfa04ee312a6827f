/*
 * The vector and mask registers of an interrupted thread, as the kernel saved them in the signal's
 * frame: an XSAVE area in standard format (Intel SDM volume 1, chapter 13; the kernel's
 * arch/x86/include/uapi/asm/sigcontext.h). Async-signal-safe after xstate_init.
 */
#ifndef JXPERF_AGENT_CODE_XSTATE_H
#define JXPERF_AGENT_CODE_XSTATE_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#define XSTATE_VECTOR_BYTES 32u /* of a ymm register */

/* Asks the processor where it saves what. */
void xstate_init(void);

/* k0 to k7. False when the frame does not hold it. */
bool xstate_opmask(const ucontext_t *uc, unsigned number, uint64_t *value);

/* ymm0 to ymm15. False when the frame does not hold it. */
bool xstate_vector(const ucontext_t *uc, unsigned number, uint8_t value[XSTATE_VECTOR_BYTES]);

#endif

/*
 * The outermost code of the SIGTRAP handler: what runs before it is noted that a handler of the
 * thread runs (struct thread, in_handler), and after.
 *
 * A watched word that lies below the stack pointer is touched by the handler's own pushes, and the
 * handler that this brings about would take the touch for one of the application's. It sees by
 * in_handler that it is nested, or here by the address of the interrupted instruction; so all code
 * that runs while in_handler is 0 is in one section.
 */
#ifndef JXPERF_AGENT_HANDLER_ENTRY_H
#define JXPERF_AGENT_HANDLER_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#define HANDLER_ENTRY __attribute__((section("jxperf_entry")))

/* The linker's names for the section's ends. */
extern const char __start_jxperf_entry[] __attribute__((visibility("hidden")));
extern const char __stop_jxperf_entry[] __attribute__((visibility("hidden")));

static inline bool entry_contains(uint64_t ip)
{
	return ip >= (uintptr_t)__start_jxperf_entry && ip < (uintptr_t)__stop_jxperf_entry;
}

#endif

/*
 * What an instance of a loop leaves behind: as much, however many turns it makes, or more the more
 * it makes; or nothing but input and output (LDoctor, section 3.2.6). And whether what its turns
 * come to goes by more than is seen of them: what they call may read what has changed meanwhile.
 */
#ifndef JXPERF_PROFILE_LOOPS_LOOP_EFFECT_H
#define JXPERF_PROFILE_LOOPS_LOOP_EFFECT_H

#include "profile/loops/loop_kind.h"
#include "profile/loops/result_sites.h"
#include "profile/loops/values.h"

/* results: all of the loop's but its exits. Never LOOP_EFFECT_IO. */
enum loop_effect loop_effect_find(const struct loop_values *v, const struct result_sites *results);

/* Are calls for input and output all that the turns come to, the same in each? method: index of the
 * image's, whose loop it is. */
bool loop_effect_is_io(const struct native_code *n, const struct result_sites *results,
		       uint32_t method);

/* Does a turn of a loop call something, not inlined, that may go by more than it is handed? By the
 * bytecodes of what is called, and of what that calls; what is not known of may. */
bool loop_effect_calls_read(const struct native_code *n, unsigned loop);

/* Does the compiled method, which calls itself, go by more than it is handed, itself or by what it
 * calls? */
bool loop_effect_method_reads(const struct native_code *n);

#endif

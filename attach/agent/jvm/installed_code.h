/*
 * The compiled methods that are there when a window begins, read from the JVM's code heaps into the
 * code map and the set of compiled methods.
 *
 * The JVM would replay them as events (GenerateEvents), and make for each of them a record of what
 * is inlined at each place: of 5,800 methods that takes 28 ms, and reading them 7. What is compiled
 * from now on is still told by events, which have to be enabled before: so nothing is missed, and
 * what an event has told of stays (codemap_add_found).
 *
 * Session thread. In this order: read, name for every id that the JVM has, add, free.
 */
#ifndef JXPERF_AGENT_JVM_INSTALLED_CODE_H
#define JXPERF_AGENT_JVM_INSTALLED_CODE_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>

#include "attach/agent/code/codemap.h"
#include "attach/agent/stack/frame_layout.h"

/* More methods than the code map has room for are not read. */
#define INSTALLED_MAX         CODEMAP_BLOBS_MAX
#define INSTALLED_METHODS_MAX (1u << 17)
#define INSTALLED_BYTES       (INSTALLED_MAX * 32u + INSTALLED_METHODS_MAX * 16u + (64u << 10))

struct installed_code;

/* NULL where it has to be left to the JVM: it describes its code in another way, has too much of
 * it, or memory is short. layout is used until it is freed. */
struct installed_code *installed_code_read(const struct frame_layout *layout);

void installed_code_name(struct installed_code *code, jmethodID id);

/* False when a method's id was not found: it is to be left to the JVM after all. */
bool installed_code_add(struct installed_code *code);

/* NULL is fine. */
void installed_code_free(struct installed_code *code);

#endif

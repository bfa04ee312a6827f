#include "attach/agent/window/modules.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "attach/agent/code/barrier.h"
#include "attach/agent/code/codemap.h"
#include "attach/agent/path/debug_info.h"
#include "attach/agent/code/element.h"
#include "attach/agent/code/xstate.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/thread.h"
#include "attach/agent/jvm/class_table.h"
#include "attach/agent/jvm/installed_code.h"
#include "attach/agent/jvm/vmstructs.h"
#include "attach/agent/objects/alloc_event.h"
#include "attach/agent/objects/fixed_objects.h"
#include "attach/agent/objects/objects.h"
#include "attach/agent/path/foretell_stop.h"
#include "attach/agent/code/loops.h"
#include "attach/agent/path/plans.h"
#include "attach/agent/place/klass.h"
#include "attach/agent/method/method_table.h"
#include "attach/agent/stream/code_message.h"
#include "attach/agent/stream/numbering.h"
#include "attach/agent/crowd/dormant.h"
#include "proto/footprint.h"
#include "proto/limits.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)

/* Measured: the code and data of the agent and its two libraries are 0.9 MiB (size). */
#define FILES_BYTES (1 * MIB)

/* The link's two buffers hold a frame each at most, but the engine's are short; a batch is
 * about twice as large unpacked. The longest line table comes on top. */
#define BATCH_BYTES (1280 * KIB)

/* Session thread's stack, malloc's rounding, small statics. */
#define REST_BYTES (256 * KIB)

/* What grows by doubling is there one and a half times for a moment; one of the two numberings at a
 * time. */
#define NUMBERINGS_BYTES (3 * NUMBERING_BYTES + NUMBERING_BYTES / 2)
#define DORMANT_BYTES    (DORMANT_MAX * sizeof(struct dormant_thread) / 2 * 3)

#define OBJECTS_BYTES (OBJECTS_LIMIT * sizeof(struct object_entry))
#define FIXED_BYTES   (FIXED_OBJECTS_MAX * FIXED_OBJECT_BYTES)
#define QUEUE_BYTES   (ALLOC_QUEUE_EVENTS * sizeof(struct alloc_event))

/* The columns:
 *   name     for the message when it cannot be made ready
 *   init     before a window: reserves what stays for the process's life, and empties it; or NULL
 *   clear    before a window: forgets what an earlier one left; or NULL
 *   release  after a window: gives the memory back; or NULL where it is kept, or nothing is left
 *   bytes    of memory that it may take, when full
 * What a window frees by itself, and what is there without one, has bytes alone. */
#define MODULES(ROW)                                                                          \
	ROW("code map", init_codemap, NULL, codemap_clear, CODEMAP_BYTES)                     \
	ROW("foretold stops", NULL, foretell_stop_clear, NULL, FORETELL_STOP_BYTES)           \
	ROW("loops", loops_init, NULL, loops_release, LOOPS_BYTES)                            \
	ROW("loops to be counted", NULL, plans_clear, plans_clear, PLANS_BYTES)               \
	ROW("debug information", NULL, debug_info_clear, NULL, DEBUG_INFO_BYTES)              \
	ROW("element types", NULL, element_clear, NULL, ELEMENT_BYTES)                        \
	ROW("classes met", NULL, klass_clear, NULL, KLASS_BYTES)                              \
	ROW("store barriers", init_barrier, NULL, NULL, 0)                                    \
	ROW("vector registers", init_xstate, NULL, NULL, 0)                                   \
	ROW("calling contexts", handlers_init, NULL, handlers_release,                        \
	    sizeof(struct context_table))                                                     \
	ROW("frames of stacks", NULL, NULL, NULL, sizeof(struct frame_table))                 \
	ROW("methods met", method_table_init, NULL, method_table_release, METHOD_TABLE_BYTES) \
	ROW("thread table", threads_init, NULL, NULL, 0) /* THREAD_BYTES for each */          \
	ROW("classes", NULL, class_table_clear, class_table_clear, CLASS_TABLE_BYTES)         \
	ROW("fixed objects", NULL, fixed_objects_clear, NULL, FIXED_BYTES)                    \
	ROW("sampled allocations", NULL, NULL, NULL, QUEUE_BYTES)                             \
	ROW("tracked objects", NULL, NULL, NULL, OBJECTS_BYTES)                               \
	ROW("dormant threads", NULL, NULL, NULL, DORMANT_BYTES)                               \
	ROW("numbers of names", NULL, NULL, NULL, NUMBERINGS_BYTES)                           \
	ROW("batch and link", NULL, NULL, NULL, BATCH_BYTES)                                  \
	ROW("code image", NULL, NULL, NULL, CODE_MESSAGE_BYTES)                               \
	ROW("files", NULL, NULL, NULL, FILES_BYTES)                                           \
	ROW("rest", NULL, NULL, NULL, REST_BYTES)

/* NOLINTNEXTLINE(bugprone-macro-parentheses): a term of a sum that the rows make together. */
#define BYTES_PLUS(name, init, clear, release, bytes) (bytes) +
_Static_assert(MODULES(BYTES_PLUS) 0 <= FOOTPRINT_AGENT_BYTES, "the agent's modules together");

/* Given back before any allocation is sampled, any object tracked and anything named. */
_Static_assert(INSTALLED_BYTES <= QUEUE_BYTES + OBJECTS_BYTES + NUMBERINGS_BYTES,
	       "what the beginning of a window needs for itself");

/* A thread's entry in the thread table, its ring and frames in whole pages, and where the hardware
 * samples the kernel's rings: a control and a data page an event. */
#define THREAD_BYTES                                                      \
	(sizeof(struct thread) + sizeof(struct thread_memory) + 4 * KIB + \
	 SAMPLING_EVENTS * 2 * 4 * KIB)

_Static_assert(THREAD_BYTES <= FOOTPRINT_THREAD_BYTES, "what is kept for a profiled thread");
_Static_assert(THREADS_MAX == FOOTPRINT_THREADS_MAX, "how many there are at most");

static int init_codemap(void)
{
	uint64_t low, high;

	return vmstructs_code_cache(&low, &high)
		   ? codemap_init(low, high, &handlers.walker.layout.code)
		   : -EOPNOTSUPP;
}

/* Before JDK 21 ZGC has none, and nothing looks like one. */
static int init_barrier(void)
{
	barrier_init(strcmp(vmstructs_gc(), "ZGC") == 0);
	return 0;
}

static int init_xstate(void)
{
	xstate_init();
	return 0;
}

struct module {
	const char *name;
	int (*init)(void);
	void (*clear)(void);
	void (*release)(void);
};

#define FUNCTIONS(name, init, clear, release, bytes) {name, init, clear, release},
static const struct module modules[] = {MODULES(FUNCTIONS)};
#define MODULE_COUNT (sizeof(modules) / sizeof(modules[0]))

int modules_prepare(struct err *err)
{
	for (size_t i = 0; i < MODULE_COUNT; i++) {
		const struct module *m = &modules[i];
		int r = m->init ? m->init() : 0;

		if (r < 0)
			return err_set_errno(err, -r, "cannot set up the agent's tables (%s)",
					     m->name);
		if (m->clear)
			m->clear();
	}
	return 0;
}

void modules_release(void)
{
	for (size_t i = 0; i < MODULE_COUNT; i++)
		if (modules[i].release)
			modules[i].release();
}

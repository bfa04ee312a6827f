#include "attach/agent/window/conversation.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/jvm/vm_version.h"
#include "attach/agent/jvm/vmstructs.h"
#include "attach/agent/stream/link.h"
#include "attach/agent/window/give_back.h"
#include "attach/agent/window/modules.h"
#include "attach/agent/window/settings.h"
#include "attach/agent/window/window.h"
#include "common/clock.h"
#include "proto/agent_note.h"
#include "proto/helper.h"
#include "proto/limits.h"

/* The engine answers at once; a session without an engine must not stay. */
#define HANDSHAKE_TIMEOUT_NS (30 * NS_PER_S)

/* Says the same as the hello. Its layout is ELF's: sizes, type, name, description. */
__attribute__((used, section(AGENT_NOTE_SECTION), aligned(4))) static const struct {
	uint32_t name_size, description_size, type;
	char name[8]; /* padded to a multiple of 4 */
	struct agent_note description;
} version_note = {.name_size = sizeof(AGENT_NOTE_NAME),
		  .description_size = sizeof(struct agent_note),
		  .type = AGENT_NOTE_TYPE,
		  .name = AGENT_NOTE_NAME,
		  .description = {.protocol = PROTOCOL_VERSION, .version = JXPERF_VERSION}};

struct window_conversation {
	JavaVM *jvm;
	struct link link;
};

/* The process has one: each Agent_OnAttach asks. NULL: there is none. What it points to stays while
 * the lock is held. */
static struct window_conversation *active;
static pthread_mutex_t active_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---------------------------------------------------------------- conversation */

static int send_hello(struct window_conversation *c)
{
	Jxp__AgentFrame frame = JXP__AGENT_FRAME__INIT;
	Jxp__AgentHello hello = JXP__AGENT_HELLO__INIT;
	char jdk[VM_TEXT_BYTES], name[VM_TEXT_BYTES];

	hello.protocol = PROTOCOL_VERSION;
	hello.version = (char *)JXPERF_VERSION;
	hello.gc = (char *)vmstructs_gc();
	hello.always_pretouch = vmstructs_always_pretouch();
	if (vm_version(jdk))
		hello.jdk = jdk;
	if (vm_name(name))
		hello.vm = name;
	frame.body_case = JXP__AGENT_FRAME__BODY_HELLO;
	frame.hello = &hello;
	return link_send(&c->link, &frame);
}

static int send_ended(struct window_conversation *c, int error, const char *message)
{
	Jxp__AgentFrame frame = JXP__AGENT_FRAME__INIT;
	Jxp__WindowEnded ended = JXP__WINDOW_ENDED__INIT;

	ended.error = (char *)message;
	ended.error_number = (uint32_t)error;
	frame.body_case = JXP__AGENT_FRAME__BODY_ENDED;
	frame.ended = &ended;
	return link_send(&c->link, &frame);
}

/* Waits for a frame of one type. 0, or -errno: the engine refused, went away or said something
 * else. */
static int await(struct window_conversation *c, Jxp__EngineFrame__BodyCase wanted,
		 Jxp__EngineFrame **frame)
{
	uint64_t deadline = clock_monotonic_ns() + HANDSHAKE_TIMEOUT_NS;
	int r = 0;

	while (r == 0 && clock_monotonic_ns() < deadline)
		r = link_receive(&c->link, 1000, frame);
	if (r <= 0)
		return r < 0 ? r : -ETIMEDOUT;
	if ((*frame)->body_case == wanted)
		return 0;
	jxp__engine_frame__free_unpacked(*frame, NULL);
	return -EPROTO;
}

static bool engine_accepts(struct window_conversation *c)
{
	Jxp__EngineFrame *frame;
	bool accepted;

	if (await(c, JXP__ENGINE_FRAME__BODY_HELLO, &frame) < 0)
		return false;
	accepted = frame->hello->protocol == PROTOCOL_VERSION && frame->hello->refusal[0] == '\0';
	jxp__engine_frame__free_unpacked(frame, NULL);
	return accepted;
}

static void converse(struct window_conversation *c)
{
	struct err err = {0};
	struct settings settings;
	Jxp__EngineFrame *frame;
	int r;

	if (send_hello(c) < 0 || !engine_accepts(c))
		return;
	if (await(c, JXP__ENGINE_FRAME__BODY_START, &frame) < 0)
		return;
	r = settings_from_start(frame->start, &settings, &err);
	jxp__engine_frame__free_unpacked(frame, NULL);
	if (r == 0)
		r = window_run(c->jvm, &c->link, &settings, &err);
	if (r < 0 && err.message[0] == '\0')
		(void)err_set_errno(&err, -r, "the agent lost its connection");
	(void)send_ended(c, r < 0 ? -r : 0,
			 r < 0 ? err.message : ""); /* Nobody is left to tell of a failure. */
}

/* ---------------------------------------------------------------- the thread */

static void *conversation_main(void *arg)
{
	struct window_conversation *c = arg;

	/* For those who look at the process's threads. */
	(void)prctl(PR_SET_NAME, AGENT_THREAD_NAME); /* Cannot fail for a readable string. */
	/* On a machine without a processor for us the client may have given up by now. */
	if (!link_is_left(&c->link) && safe_read_init() == 0) {
		converse(c);
		modules_release();
	}
	safe_read_release();
	/* Nothing is sent any more. */
	link_release_buffers(&c->link);
	give_back_freed();
	/* Last: the engine takes the end of the stream as the end of the session, and may attach
	 * again. */
	(void)pthread_mutex_lock(&active_lock); /* Not held by this thread: cannot fail. */
	active = NULL;
	(void)pthread_mutex_unlock(&active_lock);
	link_close(&c->link);
	free(c);
	return NULL;
}

/* Signals meant for the application must not land on our thread: it starts with all of them
 * blocked, and is none of the JVM's unless a window cannot do without. */
static int create_thread(struct window_conversation *c)
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;
	int r;

	(void)sigfillset(&all);
	r = pthread_attr_init(&attr);
	if (r != 0)
		return -r;
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED); /* A valid state. */
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&thread, &attr, conversation_main, c);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)pthread_attr_destroy(&attr);
	return -r;
}

/* With the lock held. */
static int start(JavaVM *jvm, const char *socket_path)
{
	struct window_conversation *c;

	if (active)
		return link_is_left(&active->link) ? AGENT_LEAVING : AGENT_BUSY;
	c = calloc(1, sizeof(*c));
	if (!c)
		return AGENT_NO_RESOURCES;
	c->jvm = jvm;
	/* Here rather than in the thread: who has given up has removed the socket, and one who is
	 * still there learns the reason. */
	if (link_connect(&c->link, socket_path) < 0) {
		free(c);
		return AGENT_NO_CLIENT;
	}
	if (create_thread(c) < 0) {
		link_close(&c->link);
		free(c);
		return AGENT_NO_RESOURCES;
	}
	active = c;
	return AGENT_OK;
}

int conversation_start(JavaVM *jvm, const char *socket_path)
{
	int r;

	(void)pthread_mutex_lock(&active_lock); /* Ours: cannot fail. */
	r = start(jvm, socket_path);
	(void)pthread_mutex_unlock(&active_lock); /* As above. */
	return r;
}

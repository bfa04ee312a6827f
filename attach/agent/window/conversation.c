#include "attach/agent/window/conversation.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/jvm/roster.h"
#include "attach/agent/jvm/vm.h"
#include "attach/agent/jvm/vmstructs.h"
#include "attach/agent/stream/link.h"
#include "attach/agent/window/window.h"
#include "common/clock.h"
#include "proto/helper.h"
#include "proto/limits.h"

/* The engine answers at once; a session without an engine must not stay. */
#define HANDSHAKE_TIMEOUT_NS (30 * NS_PER_S)

struct session {
	JavaVM *jvm;
	struct vm vm;
	struct link link;
	char socket_path[];
};

static _Atomic bool active;

/* ---------------------------------------------------------------- conversation */

static int send_hello(struct session *s)
{
	Jxp__AgentFrame frame = JXP__AGENT_FRAME__INIT;
	Jxp__AgentHello hello = JXP__AGENT_HELLO__INIT;
	char *jdk = vm_property(&s->vm, "java.vm.version");
	char *name = vm_property(&s->vm, "java.vm.name");
	char *command = vm_property(&s->vm, "sun.java.command");
	int r;

	hello.protocol = PROTOCOL_VERSION;
	hello.build = (char *)JXPERF_VERSION;
	hello.pid = (uint32_t)getpid();
	hello.gc = (char *)vmstructs_gc();
	hello.always_pretouch = vmstructs_always_pretouch();
	if (jdk)
		hello.jdk = jdk;
	if (name)
		hello.vm = name;
	if (command)
		hello.command = command;
	frame.body_case = JXP__AGENT_FRAME__BODY_HELLO;
	frame.hello = &hello;
	r = link_send(&s->link, &frame);
	free(jdk);
	free(name);
	free(command);
	return r;
}

static int send_ended(struct session *s, const char *error)
{
	Jxp__AgentFrame frame = JXP__AGENT_FRAME__INIT;
	Jxp__WindowEnded ended = JXP__WINDOW_ENDED__INIT;

	ended.error = (char *)error;
	frame.body_case = JXP__AGENT_FRAME__BODY_ENDED;
	frame.ended = &ended;
	return link_send(&s->link, &frame);
}

/* Waits for a frame of one type. 0, or -errno: the engine refused, went away or said something
 * else. */
static int await(struct session *s, Jxp__EngineFrame__BodyCase wanted, Jxp__EngineFrame **frame)
{
	uint64_t deadline = clock_monotonic_ns() + HANDSHAKE_TIMEOUT_NS;
	int r = 0;

	while (r == 0 && clock_monotonic_ns() < deadline)
		r = link_receive(&s->link, 1000, frame);
	if (r <= 0)
		return r < 0 ? r : -ETIMEDOUT;
	if ((*frame)->body_case == wanted)
		return 0;
	jxp__engine_frame__free_unpacked(*frame, NULL);
	return -EPROTO;
}

static bool engine_accepts(struct session *s)
{
	Jxp__EngineFrame *frame;
	bool accepted;

	if (await(s, JXP__ENGINE_FRAME__BODY_HELLO, &frame) < 0)
		return false;
	accepted = frame->hello->protocol == PROTOCOL_VERSION && frame->hello->refusal[0] == '\0';
	jxp__engine_frame__free_unpacked(frame, NULL);
	return accepted;
}

static void converse(struct session *s)
{
	struct err err = {0};
	Jxp__EngineFrame *frame;
	int r;

	if (send_hello(s) < 0 || !engine_accepts(s))
		return;
	if (await(s, JXP__ENGINE_FRAME__BODY_START, &frame) < 0)
		return;
	r = window_run(&s->vm, &s->link, frame->start, &err);
	jxp__engine_frame__free_unpacked(frame, NULL);
	if (r < 0 && err.message[0] == '\0')
		(void)err_set_errno(&err, -r, "the agent lost its connection");
	(void)send_ended(s, r < 0 ? err.message : ""); /* Nobody is left to tell of a failure. */
}

/* ---------------------------------------------------------------- the thread */

static void run(struct session *s, JNIEnv *jni)
{
	if (link_connect(&s->link, s->socket_path) < 0)
		return;
	if (vm_open(&s->vm, s->jvm, jni, NULL) == 0) {
		converse(s);
		if (!roster_vm_is_dead())
			vm_close(&s->vm);
		window_release_memory();
	}
}

static void *session_main(void *arg)
{
	JavaVMAttachArgs attach = {.version = JNI_VERSION_1_6, .name = (char *)"jxperf agent"};
	struct session *s = arg;
	JavaVM *jvm = s->jvm;
	JNIEnv *jni;

	s->link.fd = -1;
	/* For those who look at the JVM's threads: HotSpot names only threads it made itself. */
	(void)prctl(PR_SET_NAME, attach.name); /* Cannot fail for a readable string. */
	if (safe_read_init() == 0 &&
	    (*jvm)->AttachCurrentThreadAsDaemon(jvm, (void **)&jni, &attach) == JNI_OK) {
		run(s, jni);
		if (!roster_vm_is_dead())
			(void)(*jvm)->DetachCurrentThread(jvm); /* Attached above. */
	}
	safe_read_release();
	/* Last: the engine takes the end of the stream as the end of the session, and may attach
	 * again. */
	atomic_store(&active, false);
	link_close(&s->link);
	free(s);
	return NULL;
}

/* Signals meant for the application must not land on our thread: it starts with all of them
 * blocked, and the JVM unblocks what it needs when the thread is attached. */
static int create_thread(struct session *s)
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
	r = pthread_create(&thread, &attr, session_main, s);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)pthread_attr_destroy(&attr);
	return -r;
}

int session_start(JavaVM *jvm, const char *socket_path)
{
	size_t length = strlen(socket_path);
	struct session *s;

	if (atomic_exchange(&active, true))
		return AGENT_BUSY;
	s = calloc(1, sizeof(*s) + length + 1);
	if (s) {
		s->jvm = jvm;
		memcpy(s->socket_path, socket_path, length + 1);
	}
	if (!s || create_thread(s) < 0) {
		free(s);
		atomic_store(&active, false);
		return AGENT_NO_RESOURCES;
	}
	return AGENT_OK;
}

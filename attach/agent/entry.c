/*
 * The agent's only exported symbol. Called by the JVM's Attach Listener thread; returns at once.
 */
#include <jni.h>
#include <string.h>
#include <sys/un.h>

#include "attach/agent/jvm/java_threads.h"
#include "attach/agent/jvm/vmstructs.h"
#include "attach/agent/window/conversation.h"
#include "proto/helper.h"

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved);

static jint start(JavaVM *vm, const char *path)
{
	java_threads_note();
	if (!vmstructs_available())
		return AGENT_UNSUPPORTED;
	return conversation_start(vm, path);
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
	const size_t prefix = strlen(ATTACH_OPTION_SOCKET);
	const char *path;
	JNIEnv *jni;

	(void)reserved;
	if (!options || strncmp(options, ATTACH_OPTION_SOCKET, prefix) != 0)
		return AGENT_BAD_OPTIONS;
	path = options + prefix;
	if (path[0] != '/' || strlen(path) >= sizeof(((struct sockaddr_un *)0)->sun_path))
		return AGENT_BAD_OPTIONS;
	/* A JVM serves attach requests before its main thread has finished the start (vm_created in
	 * jni.cpp). */
	if ((*vm)->GetEnv(vm, (void **)&jni, JNI_VERSION_1_6) != JNI_OK)
		return AGENT_TOO_EARLY;
	return start(vm, path);
}

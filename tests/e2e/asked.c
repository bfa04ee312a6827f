/* An agent that tells what others ask the JVM for: environments, and to be let in with a thread. */
#include <jvmti.h>
#include <stdio.h>

static struct JNIInvokeInterface_ original, watched;

static jint JNICALL get_env(JavaVM *vm, void **env, jint version)
{
	if (version >= 0x30000000)
		(void)fprintf(stderr, "asked for an environment\n");
	return original.GetEnv(vm, env, version);
}

static jint JNICALL attach(JavaVM *vm, void **env, void *arguments)
{
	(void)fprintf(stderr, "asked to attach a thread\n");
	return original.AttachCurrentThread(vm, env, arguments);
}

static jint JNICALL attach_as_daemon(JavaVM *vm, void **env, void *arguments)
{
	(void)fprintf(stderr, "asked to attach a thread\n");
	return original.AttachCurrentThreadAsDaemon(vm, env, arguments);
}

/* Makes no environment itself. */
JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	(void)options, (void)reserved;
	original = watched = **vm;
	watched.GetEnv = get_env;
	watched.AttachCurrentThread = attach;
	watched.AttachCurrentThreadAsDaemon = attach_as_daemon;
	*vm = &watched;
	return JNI_OK;
}

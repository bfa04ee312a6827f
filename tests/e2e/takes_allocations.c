/* An agent that has the sampling of allocations, which a JVM lets only one have. */
#include <jvmti.h>

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	const jvmtiCapabilities wanted = {.can_generate_sampled_object_alloc_events = 1};
	jvmtiEnv *env;

	(void)options, (void)reserved;
	if ((*vm)->GetEnv(vm, (void **)&env, JVMTI_VERSION_11) != JNI_OK)
		return JNI_ERR;
	return (*env)->AddCapabilities(env, &wanted) == JVMTI_ERROR_NONE ? JNI_OK : JNI_ERR;
}

/*
 * What an application with a SIGTRAP handler of its own does, for OwnSigtrap.java (coexistence.py):
 * every signal that it sends itself carries a number, and its handler looks whether exactly that
 * arrives.
 */
#include <jni.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MARK 0x5a000000

static atomic_int handled; /* with the number they were sent with */
static atomic_int breakpoints;
static atomic_int others;
static atomic_int expected;

static void on_sigtrap(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (number == SIGTRAP && info->si_code == SI_QUEUE &&
	    info->si_value.sival_int == atomic_load(&expected) && info->si_pid == getpid())
		atomic_fetch_add(&handled, 1);
	else if (number == SIGTRAP && info->si_code == SI_KERNEL)
		atomic_fetch_add(&breakpoints, 1);
	else
		atomic_fetch_add(&others, 1);
}

JNIEXPORT void JNICALL Java_OwnSigtrap_install(JNIEnv *jni, jclass class)
{
	struct sigaction action = {.sa_sigaction = on_sigtrap,
				   .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};

	(void)jni, (void)class;
	(void)sigemptyset(&action.sa_mask);
	(void)sigaction(SIGTRAP, &action, NULL);
}

JNIEXPORT jboolean JNICALL Java_OwnSigtrap_isInstalled(JNIEnv *jni, jclass class)
{
	struct sigaction now;

	(void)jni, (void)class;
	return sigaction(SIGTRAP, NULL, &now) == 0 && now.sa_sigaction == on_sigtrap;
}

/* A signal with a number to the calling thread, and a breakpoint instruction. */
JNIEXPORT void JNICALL Java_OwnSigtrap_raise(JNIEnv *jni, jclass class)
{
	siginfo_t info;

	(void)jni, (void)class;
	memset(&info, 0, sizeof(info));
	info.si_code = SI_QUEUE;
	info.si_pid = getpid();
	info.si_uid = getuid();
	info.si_value.sival_int = MARK + atomic_load(&handled);
	atomic_store(&expected, info.si_value.sival_int);
	(void)syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), SIGTRAP, &info);
	__asm__ volatile("int3");
}

JNIEXPORT jint JNICALL Java_OwnSigtrap_handled(JNIEnv *jni, jclass class)
{
	(void)jni, (void)class;
	return atomic_load(&handled);
}

JNIEXPORT jint JNICALL Java_OwnSigtrap_breakpoints(JNIEnv *jni, jclass class)
{
	(void)jni, (void)class;
	return atomic_load(&breakpoints);
}

JNIEXPORT jint JNICALL Java_OwnSigtrap_others(JNIEnv *jni, jclass class)
{
	(void)jni, (void)class;
	return atomic_load(&others);
}

/*
 * For tests of what JVMs look like from outside: processes that map a file called libjvm.so and are
 * started with a JVM's options, without being one.
 */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_FAKE_JVM_FIXTURE_H
#define JXPERF_TESTS_UNIT_SUPPORT_FAKE_JVM_FIXTURE_H

#include <stdbool.h>
#include <sys/types.h>

#define FAKE_JVM_NOBODY 65534

struct fake_jvm {
	const char *libraries[3]; /* files to map, NULL-terminated */
	const char *options[5];   /* after "java", NULL-terminated */
	const char *environment;  /* one "NAME=value", or NULL */
	bool ignores_sigquit;     /* a JVM catches it */
	bool as_nobody;           /* runs as FAKE_JVM_NOBODY; needs root */
};

/* Runs that role and does not return, when the program was started as a fake JVM. */
void fake_jvm_main(void);

/* Starts one and waits until it is as described. To be ended with fake_jvm_end. */
pid_t fake_jvm_start(const struct fake_jvm *jvm);
void fake_jvm_end(pid_t pid);

#endif

/*
 * Tells what a look at a process is about to touch, for whoever waits for it: a look may never come
 * back (jvm_inspect_steps), and its last step then says why. The text lies in memory that the two
 * share.
 */
#ifndef JXPERF_ATTACH_PROCESS_JVM_STEP_H
#define JXPERF_ATTACH_PROCESS_JVM_STEP_H

#define JVM_STEP_BYTES 160

/* Says what is touched next ("its command line"), cut to fit JVM_STEP_BYTES. Does nothing for a
 * step of NULL, which nobody waits for. */
void jvm_step(char *step, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif

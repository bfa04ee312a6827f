/*
 * Loops that no debug information tells of: what is left for them to be, by what lies around them,
 * beside them and in them.
 */
#ifndef JXPERF_DAEMON_LOOPS_LOOP_INFERENCE_H
#define JXPERF_DAEMON_LOOPS_LOOP_INFERENCE_H

struct loop_mapping;

void loop_inference_run(struct loop_mapping *m);

#endif

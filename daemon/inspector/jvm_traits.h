/*
 * What rules and schedules tell JVMs by (fleet/selector.h), beyond what `list` shows: command line,
 * control group, pod and its labels, image, and those variables of the environment that may be
 * looked at.
 *
 * All of it is the JVM's own word, bounded and made fit to show. What cannot be read, or is too
 * long for a pattern to mean the whole of it, is empty or missing.
 */
#ifndef JXPERF_DAEMON_INSPECTOR_JVM_TRAITS_H
#define JXPERF_DAEMON_INSPECTOR_JVM_TRAITS_H

#include <stdint.h>
#include <sys/types.h>

#include "attach/process/jvm.h"
#include "attach/process/jvm_text.h"
#include "daemon/inspector/container_record.h"
#include "daemon/inspector/startup.h"

#define JVM_COMMAND_BYTES    1024 /* a longer command line is cut */
#define JVM_VARIABLE_BYTES   256  /* NAME=VALUE; a longer one is missing */
#define JVM_VARIABLES_MAX    16
#define JVM_ENVIRON_READ     (256u << 10) /* what is beyond it is missing */
#define JVM_LABELS_MAX       16           /* of a pod; those beyond are missing */
#define JVM_LABELS_READ      (16u << 10)  /* of their file; likewise */
#define JVM_TRAITS_SEPARATOR ','          /* between names of variables */

struct jvm_traits {
	uint64_t cpu_ns; /* CPU time that it has used */
	char command[JVM_COMMAND_BYTES];
	char cgroup[JVM_CGROUP_BYTES];
	char pod[JVM_POD_BYTES];
	char variables[JVM_VARIABLES_MAX][JVM_VARIABLE_BYTES];
	char *environment[JVM_VARIABLES_MAX]; /* those of them that there are */
	size_t environment_count;
	char label_texts[JVM_LABELS_MAX][JVM_LABEL_BYTES];
	char *labels[JVM_LABELS_MAX];
	size_t label_count;
	struct container_record container; /* image as it was asked for, names of the pod */
};

/* What startup does not name is not read. May hang: step is told what is being read
 * (attach/process/jvm_step.h). For one thread only. */
void jvm_traits_read(struct jvm_traits *out, const struct jvm_info *info,
		     const struct startup *startup, char *step);

#endif

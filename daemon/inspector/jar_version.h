/*
 * Which version of the application a JVM runs, as the manifest of its jar says it.
 *
 * The jar is that of -jar, or the class path where that is one jar (attach/process/jvm.h). It is
 * the JVM's user's, who may be hostile: it is opened as attach/process/target_fs.h opens things,
 * with that user's rights and if it is a regular file; JAR_MANIFEST_MAX bytes of its manifest are
 * unpacked at most. It has to be the very file that the JVM has open: during a roll-out the path
 * leads to the new version already, while the JVM still runs the old one.
 */
#ifndef JXPERF_DAEMON_INSPECTOR_JAR_VERSION_H
#define JXPERF_DAEMON_INSPECTOR_JAR_VERSION_H

#include "attach/process/jvm.h"
#include "daemon/inspector/jar_manifest.h"

#define JAR_MANIFEST_MAX (64u << 10)

/* The JVM's descriptors that are looked at: it opened the jar as one of its first. */
#define JAR_DESCRIPTORS_MAX 4096

/* Also on the wire, and in metrics (daemon/questions/jar_versions.h). */
enum jar_result {
	JAR_UNTOLD, /* nobody was asked, or could answer */
	JAR_FOUND,
	JAR_NONE,        /* it was not started from one jar */
	JAR_UNREADABLE,  /* no such file, no regular one, or not for the JVM's user to read */
	JAR_NOT_IN_USE,  /* the JVM has not opened that file, or it was changed meanwhile */
	JAR_NO_MANIFEST, /* no zip file, a damaged one, none that is read here, or without one */
	JAR_NO_VERSION,  /* no attribute, or none that can be a version */
	JAR_RESULTS,
};

/* version is unchanged but where JAR_FOUND is returned. May hang: step is told what is being read
 * (attach/process/jvm_step.h). For one thread only; the caller asks jvm_is_unchanged afterwards. */
enum jar_result jar_version_read(const struct jvm_info *info, char *step,
				 char version[JAR_VERSION_BYTES]);

#endif

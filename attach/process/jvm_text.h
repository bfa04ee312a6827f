/*
 * Small parsers of untrusted text about a JVM, each on memory alone.
 */
#ifndef JXPERF_ATTACH_PROCESS_JVM_TEXT_H
#define JXPERF_ATTACH_PROCESS_JVM_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#define JVM_CONTAINER_BYTES 13 /* 12 digits, as container tools show them */

/* The container id in the text of /proc/PID/cgroup: the first 12 of the 64 hexadecimal digits in
 * the first name of a group that is in one of the forms that Docker, containerd, CRI-O and Podman
 * use;
 * "" without one. Who may make groups may have made it. */
void jvm_text_container(char *container, const char *cgroup);

/* The whole of it. */
#define JVM_CONTAINER_ID_BYTES 65
void jvm_text_container_id(char id[JVM_CONTAINER_ID_BYTES], const char *cgroup);

/* Is a group in that text below user.slice, where users make groups of any name? */
bool jvm_text_is_in_user_slice(const char *cgroup);

/* The path of the control group in the text of /proc/PID/cgroup: of the unified hierarchy, or where
 * that is the root, of the first other one that is not. */
#define JVM_CGROUP_BYTES 512
void jvm_text_cgroup(char path[JVM_CGROUP_BYTES], const char *cgroup);

/* The uid of the Kubernetes pod in such a path, in the form that Kubernetes shows ("-" between its
 * parts); "" without one. The kubelet names the group "pod" and the uid, with "-" (cgroupfs) or "_"
 * (systemd) between its parts; a static pod's uid is a hash without any. */
#define JVM_POD_BYTES 37
void jvm_text_pod(char pod[JVM_POD_BYTES], const char *path);

/* The next label in the text of a file that Kubernetes' downward API writes, a NAME="VALUE" a line:
 * NAME=VALUE in label, and the text after it is returned; NULL when there is none, label undefined.
 * Lines that are too long or have anything that labels cannot have are passed over. */
#define JVM_LABEL_BYTES 384 /* a name has up to 253 + 1 + 63 bytes, a value 63 */
const char *jvm_text_next_label(char label[JVM_LABEL_BYTES], const char *text);

/* The value of a variable in the text of /proc/PID/environ, or NULL. environ must be followed by a
 * NUL byte. */
const char *jvm_text_environ(const char *environ, size_t environ_bytes, const char *name);

/* Feature release of a version: 8 for "1.8.0_392", 17 for "17.0.15+6"; 0 when there is none. */
int jvm_text_release(const char *version);

/* JAVA_VERSION="..." in a JDK's `release` file, cut to fit; "" when there is none. */
void jvm_text_release_file(char *version, size_t size, const char *text);

/* Our name for the collector that a performance counter describes (sun.gc.policy.name,
 * sun.gc.collector.N.name); "" when unknown. Static text. */
const char *jvm_text_collector(const char *name);

/* Is a path that of a jar, by its ending? */
bool jvm_text_is_jar(const char *path);

/* Tells what to call the application: a jar or source file without its directories, a main class or
 * module as it is. */
const char *jvm_text_application(const char *main);

#endif

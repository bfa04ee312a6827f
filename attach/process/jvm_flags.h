/*
 * Tells what a JVM's options say about attaching: are the attach mechanism and dynamic loading of
 * agents on, and which collector was asked for.
 *
 * Options come from several places, in HotSpot's order (Arguments::parse in arguments.cpp): flags
 * file, JAVA_TOOL_OPTIONS, command line (the launcher puts JDK_JAVA_OPTIONS before it and expands
 * @files), _JAVA_OPTIONS. The caller adds them in that order and the last occurrence of a flag
 * wins. Everything works on memory; the text is untrusted.
 */
#ifndef JXPERF_ATTACH_PROCESS_JVM_FLAGS_H
#define JXPERF_ATTACH_PROCESS_JVM_FLAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum jvm_flag {
	JVM_FLAG_DISABLE_ATTACH,
	JVM_FLAG_DYNAMIC_LOADING,
	JVM_FLAG_COMPILER, /* -Xint turns it off */
	JVM_FLAG_SERIAL,
	JVM_FLAG_PARALLEL,
	JVM_FLAG_G1,
	JVM_FLAG_ZGC,
	JVM_FLAG_SHENANDOAH,
	JVM_FLAG_EPSILON,
	JVM_FLAG_MAX,
};

enum jvm_flag_value { JVM_FLAG_UNSET, JVM_FLAG_ON, JVM_FLAG_OFF };

/* A flags file is read first wherever it is named, so an option always wins over it. */
struct jvm_flags {
	enum jvm_flag_value from_options[JVM_FLAG_MAX];
	enum jvm_flag_value from_file[JVM_FLAG_MAX];
};

/* Reads a file that an option names, as the target would. Returns bytes read, the text terminated,
 * or -errno, after which the option has no effect. */
typedef ssize_t (*jvm_flags_read_fn)(void *arg, const char *path, char *text, size_t size);

struct jvm_flags_reader {
	jvm_flags_read_fn read; /* NULL: files are not followed */
	void *arg;
};

#define JVM_FLAGS_FILE_BYTES (64u << 10)

/* Nothing set: the JVM's defaults. */
void jvm_flags_init(struct jvm_flags *f);

/* -XX:+DisableAttachMechanism is in effect. */
bool jvm_flags_attach_disabled(const struct jvm_flags *f);

/* -XX:-EnableDynamicAgentLoading is in effect. */
bool jvm_flags_dynamic_loading_disabled(const struct jvm_flags *f);

/* -Xint: no method is compiled. */
bool jvm_flags_interpreted_only(const struct jvm_flags *f);

/* The collector asked for ("Serial", "Parallel", "G1", "ZGC", "Shenandoah", "Epsilon"), "" when the
 * options do not say. Static text. */
const char *jvm_flags_gc(const struct jvm_flags *f);

/* One option, such as "-XX:+UseZGC"; anything else is ignored. */
void jvm_flags_add(struct jvm_flags *f, const char *option, const struct jvm_flags_reader *reader);

/* Options separated by white space with '...' and "..." quoting, as in JAVA_TOOL_OPTIONS. */
void jvm_flags_add_text(struct jvm_flags *f, const char *text,
			const struct jvm_flags_reader *reader);

/* The contents of a flags file (-XX:Flags=): "+Name", "-Name" or "Name=value", '#' comments. */
void jvm_flags_add_file(struct jvm_flags *f, const char *text);

/* A whole command line as in /proc/PID/cmdline. With launcher_options ("" or JDK_JAVA_OPTIONS).
 * main receives the main class, module or jar that it names, cut at size - 1, or "". */
void jvm_flags_add_cmdline(struct jvm_flags *f, const char *cmdline, size_t cmdline_bytes,
			   const char *launcher_options, const struct jvm_flags_reader *reader,
			   char *main, size_t size);

#endif

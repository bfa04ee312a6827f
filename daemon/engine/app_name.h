/*
 * The `app` label of a target: the simple name of its main class, or the base name of its jar
 * without a version, so that instances and releases of one application fall together and nothing
 * about a single process (pid, path, argument) becomes a metric label.
 */
#ifndef JXPERF_DAEMON_ENGINE_APP_NAME_H
#define JXPERF_DAEMON_ENGINE_APP_NAME_H

#include <stddef.h>

/* Longest label, with its NUL. */
#define APP_NAME_BYTES 64

/* Of what nobody can name. */
#define APP_NAME_UNKNOWN "unknown"

/* program is what the attach helper saw, as in `list`: a main class ("org.example.Main$Inner",
 * "module/org.example.Main") or a jar, without arguments. Never what the agent says of itself.
 * Characters other than letters, digits, '.', '_' and '-' become '_'; without a usable name the
 * label is "unknown". */
void app_name_of(char *label, size_t size, const char *program);

#endif

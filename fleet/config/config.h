/*
 * The daemon's configuration: what a YAML file says, and the files of a directory beside it,
 * checked and completed with defaults.
 *
 * The directory of DIR/NAME.yaml is DIR/NAME.conf.d; its files end in .yaml and are read behind it,
 * in the order of their names. Of a key that has one value the file that is read last is right;
 * what is a list (`apps`, `schedules`, `environment`) goes behind what was read before. A name may
 * be used where it is listed in the same file or one before.
 *
 * Every value that is wrong is named with the file, its line and column, and its key. Plain data
 * afterwards; whoever loads it owns it.
 */
#ifndef JXPERF_FLEET_CONFIG_CONFIG_H
#define JXPERF_FLEET_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "fleet/config/exports.h"
#include "fleet/config/rules.h"
#include "proto/jxperf.pb-c.h"
#include "proto/kinds.h"

/* The largest file, and how many there may be. */
#define CONFIG_BYTES_MAX (1u << 20)
#define CONFIG_FILES_MAX 64

/* The directory of what is read behind a file has this in place of the file's ".yaml". */
#define CONFIG_DIRECTORY_ENDING ".conf.d"

/* The keys that hold from a reload on, as other keys do from a restart on; ended by NULL. */
#define CONFIG_KEYS 13
extern const char *const config_keys[CONFIG_KEYS + 1];

/* The names in `environment` as inspectors get them, "A,B", with a NUL. */
#define CONFIG_ENVIRONMENT_BYTES 1024

/* Minutes of a day, and no time of day. */
#define CONFIG_DAY_MINUTES 1440
#define CONFIG_ALWAYS      (-1)

/* How long an epoch of a schedule with a target is where nothing is said, and at most: its windows
 * of a day have ended an hour after the day has (fleet/evidence.h). */
#define CONFIG_TUNED_EVERY_NS     (600 * UINT64_C(1000000000))
#define CONFIG_TUNED_EVERY_MAX_NS (3600 * UINT64_C(1000000000))

struct config_schedule {
	char *name;
	struct config_match match;
	uint64_t every_ns; /* length of an epoch */
	/* Completed pairs that an application is to bring on this host, on average, for which
	 * jvm_fraction is set anew each day (fleet/evidence.h); 0: it is what it is. */
	uint32_t pairs_per_day;
	uint64_t window_ns; /* of the windows */
	/* As in a request to attach; none: all that work. */
	Jxp__Kind kinds[PAIR_KINDS + SUBJECT_KINDS];
	size_t kind_count;
	double budget;
	double jitter;        /* part of an epoch over which windows' starts spread */
	uint64_t warm_up_ns;  /* a JVM is left alone for so long after it started */
	double host_fraction; /* probability that this host takes part in an epoch, */
	double jvm_fraction;  /* and then each of its JVMs */
	int from_minute;      /* of the local day; CONFIG_ALWAYS */
	int until_minute;     /* may be before from_minute: over midnight */
	uint32_t failures;    /* it pauses after costly windows in so many JVMs in a row */
};

/* The daemon keeps so much of finished windows, at most. */
struct config_store {
	uint64_t keep_ns;         /* each one */
	uint64_t bytes;           /* all of them */
	uint32_t windows_per_app; /* of one application */
	double free_disk;         /* nothing is written where less of the file system is free */
};

/* From these values on no scheduled window begins; INFINITY: whatever it is. */
struct config_guards {
	double cpu_pressure; /* part of the last 10 s in which some task waited, by the kernel; */
	double memory_pressure; /* all tasks did */
	double io_pressure;
	double load;      /* of the last minute, by processor */
	double collector; /* part of the CPU time that a JVM used lately */
};

struct config {
	struct config_texts texts;
	double host_budget; /* of the CPU time of all processors, for all windows together */
	uint32_t windows_at_once;
	uint32_t windows_per_user; /* at a time, of one who is no administrator */
	struct config_store store;
	struct config_guards guards;
	struct config_app *apps;
	size_t app_count;
	struct config_schedule *schedules;
	size_t schedule_count;
	bool schedules_said; /* `schedules` is there, if with nothing in it */
	struct config_export *exports;
	size_t export_count;
	uint64_t hash;                    /* of all keys and values, whatever their order; and */
	uint64_t key_hashes[CONFIG_KEYS]; /* those of config_keys; 0: it is not there */
	void *files[CONFIG_FILES_MAX];    /* what they held; own every string */
	size_t file_count;
};

/* Sets what holds without a file, and in an empty one. */
void config_defaults(struct config *c);

/* Reads path and its directory. 0, to be released with config_release; or -errno with one line for
 * the user
 * ("jxperfd.yaml:12:5: schedules[0].every: ...") and *c unchanged. */
int config_load(struct config *c, const char *path, struct err *err);

/* Adds what a text in memory, called name in messages, says to c, which is from config_defaults or
 * this. 0; on failure, as above,
 * c is good for nothing but config_release. */
int config_add(struct config *c, const char *name, const char *text, size_t size, struct err *err);

void config_release(struct config *c);

#endif

/*
 * Which profiles a batch of windows comes to, for formats that have one value in each, and how many
 * of them make a request: as many as there is room for.
 *
 * One thread. Windows and settings are borrowed.
 */
#ifndef JXPERF_EXPORT_PROFILES_WINDOW_PROFILES_H
#define JXPERF_EXPORT_PROFILES_WINDOW_PROFILES_H

#include "export/format.h"
#include "report/content/sample_series.h"

/* One value of one series of a window. */
struct window_profile {
	const struct window_result *window;
	uint32_t series, value;
};

/* The model of the window that was asked for last: profiles of one window are asked for one behind
 * the other. All zero holds none. */
struct window_models {
	struct report_model model;
	bool made;
	struct sample_series series[SAMPLE_SERIES_MAX];
	size_t series_count;
};

struct window_profiles {
	struct window_models models;
	struct window_profile *profiles;
	size_t count, capacity;
};

/* Tells the profile of a value from all others of all hosts, and is the same again for the same
 * one: a hash of the host, the store, the window's number and the value's name. */
#define WINDOW_PROFILE_ID_BYTES 16
void window_profile_id(uint8_t id[WINDOW_PROFILE_ID_BYTES], const struct export_origin *origin,
		       const struct window_result *w, const char *type);

/* Makes the model of the window, unless it is there. 0 or -ENOMEM. */
int window_models_take(struct window_models *m, const struct window_result *w);

/* Lists the profiles of windows that began so many ns before now at most (0: of all), where there
 * is something in them; counts in out those that are too old. p is zeros before, and to be released
 * in either case. 0 or -ENOMEM. */
int window_profiles_list(struct window_profiles *p, const struct window_result *const *windows,
			 size_t count, uint64_t too_old_ns, uint64_t now_unix_ns,
			 struct export_batch *out);
void window_profiles_release(struct window_profiles *p);

/* Writes the request of so many profiles, of which none may have more samples than that; -EMSGSIZE
 * when it came out too large, with nothing left in request. */
typedef int window_profiles_write(void *format, struct window_models *models,
				  const struct window_profile *profiles, size_t count,
				  size_t samples_max, struct export_request *request,
				  uint64_t *cut);

/* Appends the requests to out: halves of those that are too large, and of one profile that is too
 * large by itself as many samples as fit, but for an eighth. 0, -ENOMEM, or -EMSGSIZE with a line
 * where one sample alone is too large. */
int window_profiles_split(struct window_profiles *p, window_profiles_write *write, void *format,
			  size_t samples_max, struct export_batch *out, struct err *err);

#endif

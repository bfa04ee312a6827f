/*
 * A report as a profile for pprof (proto/profile.proto, compressed with gzip), with a sample type
 * for each value of each series (report/content/sample_series.h). A sample has 0 in those that are
 * not its own. Or of one value of one series alone, for those who want one value a sample.
 */
#ifndef JXPERF_REPORT_PPROF_PPROF_H
#define JXPERF_REPORT_PPROF_PPROF_H

#include <stddef.h>
#include <stdio.h>

#include "report/content/model.h"
#include "report/content/sample_series.h"

/* As report_write_fn of report/formats.h: at most so many rows of each list; how many more
 * there are is said in the profile's comments. 0 or -ENOMEM. */
int report_pprof_write(FILE *out, const struct report_model *m, size_t rows);

/* How much of it there is: samples, and bytes before they are compressed. */
struct pprof_extent {
	size_t samples;
	size_t bytes;
};

/* One value alone. Of a sample's labels there are those with these keys, up to NULL. */
struct pprof_value {
	const struct sample_series *series;
	size_t value;
	const char *const *labels;
};

/* The same of one value alone, with the samples that were picked, or with those of them that there
 * is room for, the first ones. 0 or -ENOMEM. */
int report_pprof_write_value(FILE *out, const struct report_model *m, const struct pprof_value *v,
			     const struct series_pick *picks, size_t count,
			     struct pprof_extent *extent);

#endif

#include "report/content/wanted.h"

#include <errno.h>

#include "proto/words.h"

/* Can pprof and speedscope be told of it? */
static bool has_contexts(Jxp__View view)
{
	return view == JXP__VIEW__VIEW_ALL || view == JXP__VIEW__VIEW_PAIRS ||
	       view == JXP__VIEW__VIEW_OBJECTS || view == JXP__VIEW__VIEW_CPU;
}

static bool has_problems(Jxp__View view)
{
	return view == JXP__VIEW__VIEW_ALL || view == JXP__VIEW__VIEW_PAIRS ||
	       view == JXP__VIEW__VIEW_FIELDS || view == JXP__VIEW__VIEW_LINES;
}

int report_wanted_set(struct report_wanted *wanted, Jxp__Format format, size_t pairs,
		      Jxp__View view, const Jxp__Region *regions, size_t region_count,
		      struct err *err)
{
	struct report_wanted w = {.format = format, .pairs = pairs, .view = view};

	if ((unsigned)view >= VIEW_VALUES)
		return err_set(err, EINVAL,
			       "there is no view %d of a report: use the jxperfctl of "
			       "this daemon's version",
			       (int)view);
	if ((format == JXP__FORMAT__FORMAT_PPROF || format == JXP__FORMAT__FORMAT_SPEEDSCOPE) &&
	    !has_contexts(view))
		return err_set(err, EINVAL,
			       "a profile for pprof or speedscope has calling contexts: use --view "
			       "pairs, objects, cpu or all");
	if (format == JXP__FORMAT__FORMAT_SARIF && !has_problems(view))
		return err_set(err, EINVAL,
			       "results are problems, which are of pairs: use --view pairs or all");
	for (size_t i = 0; i < region_count; i++) {
		if ((unsigned)regions[i] >= PROFILE_REGIONS)
			return err_set(err, EINVAL, "pairs of region '%s' are not listed",
				       name_of_region(regions[i]));
		w.some_regions = w.regions[regions[i]] = true;
	}
	*wanted = w;
	return 0;
}

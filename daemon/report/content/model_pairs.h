/*
 * The part of a report's model that is about pairs: each kind's shares and rankings, and over all
 * of them what a reader should look at first. Private to the model.
 */
#ifndef JXPERF_DAEMON_REPORT_CONTENT_MODEL_PAIRS_H
#define JXPERF_DAEMON_REPORT_CONTENT_MODEL_PAIRS_H

#include "daemon/report/content/model.h"

/* Of a model whose window and shown parts are set. 0 or -ENOMEM; to be released in either case. */
int report_model_init_pairs(struct report_model *m, const struct report_wanted *wanted);
void report_model_release_pairs(struct report_model *m);

#endif

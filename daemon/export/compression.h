/*
 * Compresses the bodies of requests (gzip, RFC 1952), on a thread of the pool.
 */
#ifndef JXPERF_DAEMON_EXPORT_COMPRESSION_H
#define JXPERF_DAEMON_EXPORT_COMPRESSION_H

#include "export/format.h"

/* Each request of the batch, where that makes it smaller. Those before one that fails stay
 * compressed. 0 or -ENOMEM. */
int compression_apply(struct export_batch *batch);

#endif

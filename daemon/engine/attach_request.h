/*
 * What a client asked for, checked and completed with defaults, before anything is done to a
 * target.
 */
#ifndef JXPERF_DAEMON_ENGINE_ATTACH_REQUEST_H
#define JXPERF_DAEMON_ENGINE_ATTACH_REQUEST_H

#include "common/err.h"
#include "profile/window/request.h"
#include "proto/jxperf.pb-c.h"

/* 0 with the request in *out, or -EINVAL with one line for the user. The default kinds are those
 * that there are on this machine. */
int attach_request_check(const Jxp__AttachRequest *asked, struct window_request *out,
			 struct err *err);

#endif

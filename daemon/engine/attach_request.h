/*
 * What a client asked for, checked and completed with defaults, before anything is done to a
 * target.
 */
#ifndef JXPERF_DAEMON_ENGINE_ATTACH_REQUEST_H
#define JXPERF_DAEMON_ENGINE_ATTACH_REQUEST_H

#include "common/err.h"
#include "daemon/window/window.h"
#include "proto/jxperf.pb-c.h"

/* The settings of the window in *out. 0; -EINVAL with one line for the user when the request is
 * wrong (usage); -EOPNOTSUPP when this machine or version cannot do it. */
int attach_request_settings(const Jxp__AttachRequest *request, struct window_settings *out,
			    struct err *err);

#endif

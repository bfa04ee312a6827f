#include "daemon/engine/window_log.h"

#include <syslog.h>

#include "profile/window/result.h"

struct log_subject window_log_subject(const struct window_result *w)
{
	return (struct log_subject){
	    .window = w->id, .schedule = w->request.schedule.name, .app = w->app, .pid = w->pid};
}

void window_log(const struct window_result *w, int priority, const char *fmt, ...)
{
	const struct log_subject subject = window_log_subject(w);
	bool scheduled = window_request_is_scheduled(&w->request);
	va_list ap;

	va_start(ap, fmt);
	log_about_v(&subject, priority == LOG_INFO && scheduled ? LOG_DEBUG : priority, fmt, ap);
	va_end(ap);
}

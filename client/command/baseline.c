#include "client/command/baseline.h"

#include <errno.h>
#include <string.h>

#include "client/daemon/exchange.h"
#include "common/cleanup.h"

int baseline_report(struct client *c, Jxp__ReportRequest *report, Jxp__ControlReply **reply,
		    struct err *err)
{
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;

	request.body_case = JXP__CONTROL_REQUEST__BODY_REPORT;
	request.report = report;
	return exchange_once(c, &request, JXP__CONTROL_REPLY__BODY_DOCUMENT, reply, err);
}

/* NULL where the list has no such JVM: another user's, say, or one that hangs. */
static const Jxp__Jvm *find_jvm(const Jxp__JvmList *list, uint32_t pid)
{
	for (size_t i = 0; i < list->n_jvms; i++)
		if (list->jvms[i]->pid == pid)
			return list->jvms[i];
	return NULL;
}

/* What is not known now is checked when the report is made. */
static int check_app(struct client *c, const char *window, const char *app, uint32_t pid,
		     struct err *err)
{
	Jxp__ListRequest list = JXP__LIST_REQUEST__INIT;
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	const Jxp__Jvm *jvm;
	int r;

	request.body_case = JXP__CONTROL_REQUEST__BODY_LIST;
	request.list = &list;
	r = exchange_once(c, &request, JXP__CONTROL_REPLY__BODY_JVMS, &reply, err);
	if (r < 0)
		return r;
	jvm = find_jvm(reply->jvms, pid);
	if (!jvm || !jvm->app[0] || strcmp(jvm->app, app) == 0)
		return 0;
	return err_set(err, EINVAL,
		       "window %s is of '%s' and pid %u is '%s': a baseline is a window of the "
		       "same application",
		       window, app, pid, jvm->app);
}

int baseline_check(struct client *c, const char *window, uint32_t pid, struct err *err)
{
	Jxp__ReportRequest report = JXP__REPORT_REQUEST__INIT;
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	int r;

	/* A window can be compared with itself, if it can be with any. */
	report.window = report.baseline = (char *)window;
	report.view = JXP__VIEW__VIEW_LOOPS;
	report.pairs = 1;
	r = baseline_report(c, &report, &reply, err);
	return r < 0 ? r : check_app(c, window, reply->document->app, pid, err);
}

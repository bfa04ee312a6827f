#include "client/target.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "client/exchange.h"
#include "client/parse.h"

/* How many candidates an error names. */
#define CANDIDATES_SHOWN 5

static bool matches(const Jxp__Jvm *jvm, const char *text, bool whole)
{
	return whole ? strcmp(jvm->name, text) == 0 : strstr(jvm->name, text) != NULL;
}

static int ambiguous(const Jxp__JvmList *list, const char *text, bool whole, size_t found,
		     struct err *err)
{
	char candidates[ERR_MESSAGE_MAX / 2] = "";
	size_t used = 0, shown = 0;

	for (size_t i = 0; i < list->n_jvms && shown < CANDIDATES_SHOWN; i++) {
		const Jxp__Jvm *jvm = list->jvms[i];
		int n;

		if (!matches(jvm, text, whole))
			continue;
		n = snprintf(candidates + used, sizeof(candidates) - used, "%s%u (%.60s)",
			     shown ? ", " : "", jvm->pid, jvm->name);
		if (n < 0 || (size_t)n >= sizeof(candidates) - used) {
			candidates[used] = '\0';
			break;
		}
		used += (size_t)n;
		shown++;
	}
	return err_set(err, ENOTUNIQ, "'%.60s' matches %zu JVMs: use the pid of one: %s%s", text,
		       found, candidates, shown < found ? ", ..." : "");
}

int target_match(const Jxp__JvmList *list, const char *text, uint32_t *pid, struct err *err)
{
	/* A whole name is meant even when another contains it. */
	for (int whole = 1; whole >= 0; whole--) {
		size_t found = 0;
		uint32_t last = 0;

		for (size_t i = 0; i < list->n_jvms; i++) {
			if (!matches(list->jvms[i], text, whole))
				continue;
			found++;
			last = list->jvms[i]->pid;
		}
		if (found > 1)
			return ambiguous(list, text, whole, found, err);
		if (found == 1) {
			*pid = last;
			return 0;
		}
	}
	return err_set(err, ESRCH, "no JVM's name contains '%s': see 'jxperfctl list'", text);
}

int target_find(struct client *c, const char *text, uint32_t *pid, struct err *err)
{
	Jxp__ListRequest list = JXP__LIST_REQUEST__INIT;
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	int r;

	if (parse_is_number(text))
		return parse_pid(text, pid, err);
	if (text[0] == '\0')
		return err_set(err, EINVAL, "'' is neither a pid nor a name: see 'jxperfctl list'");
	request.body_case = JXP__CONTROL_REQUEST__BODY_LIST;
	request.list = &list;
	r = exchange_once(c, &request, JXP__CONTROL_REPLY__BODY_JVMS, &reply, err);
	return r < 0 ? r : target_match(reply->jvms, text, pid, err);
}

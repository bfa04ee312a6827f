#include "client/command/which_jvm.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "client/command/parse.h"
#include "client/daemon/exchange.h"

/* How many candidates an error names. */
#define CANDIDATES_SHOWN 5

enum match { NO_MATCH, PART, WHOLE };

/* POD or NAMESPACE/POD. */
static bool is_pod(const Jxp__Jvm *jvm, const char *text)
{
	size_t namespace = strlen(jvm->pod_namespace);

	if (namespace > 0 && strncmp(text, jvm->pod_namespace, namespace) == 0 &&
	    text[namespace] == '/')
		text += namespace + 1;
	return jvm->pod_name[0] && strcmp(jvm->pod_name, text) == 0;
}

static enum match match(const Jxp__Jvm *jvm, const char *text)
{
	if (strcmp(jvm->name, text) == 0 || is_pod(jvm, text))
		return WHOLE;
	return strstr(jvm->name, text) ? PART : NO_MATCH;
}

/* Any program can call itself anything: only who is known to be a JVM is meant by a name. */
static enum match match_jvm(const Jxp__Jvm *jvm, const char *text)
{
	return jvm->by_name ? match(jvm, text) : NO_MATCH;
}

/* users: say whose they are. */
static int ambiguous(const Jxp__JvmList *list, const char *text, enum match least, size_t found,
		     bool users, struct err *err)
{
	char candidates[ERR_MESSAGE_MAX / 2] = "";
	size_t used = 0, shown = 0;

	for (size_t i = 0; i < list->n_jvms && shown < CANDIDATES_SHOWN; i++) {
		const Jxp__Jvm *jvm = list->jvms[i];
		int n;

		if (match_jvm(jvm, text) < least)
			continue;
		n = snprintf(candidates + used, sizeof(candidates) - used, "%s%u (%.60s%s%.32s)",
			     shown ? ", " : "", jvm->pid, jvm->name, users ? " of " : "",
			     users ? jvm->user : "");
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

static int nobody(const Jxp__JvmList *list, const char *text, struct err *err)
{
	for (size_t i = 0; i < list->n_jvms; i++)
		if (match(list->jvms[i], text))
			return err_set(err, ESRCH,
				       "no JVM's name contains '%.60s'; process %u of user '%.32s' "
				       "calls itself so, but has no performance data or attach "
				       "socket that shows it: if you mean it, use the pid",
				       text, list->jvms[i]->pid, list->jvms[i]->user);
	return err_set(err, ESRCH, "no JVM's name contains '%s': see 'jxperfctl list'", text);
}

/* These JVMs match a text. */
struct matches {
	size_t whole, all;
	const Jxp__Jvm *best; /* a whole match, or else any */
	bool one_user;        /* the same for all */
};

static void add_match(struct matches *m, const Jxp__Jvm *jvm, enum match how)
{
	if (m->all == 0)
		m->one_user = true;
	else
		m->one_user &= strcmp(m->best->user, jvm->user) == 0;
	if (m->all == 0 || how == WHOLE)
		m->best = jvm;
	m->all++;
	m->whole += how == WHOLE;
}

int which_jvm_match(const Jxp__JvmList *list, const char *text, struct which_jvm *out,
		    struct err *err)
{
	struct matches m = {0};

	for (size_t i = 0; i < list->n_jvms; i++) {
		enum match how = match_jvm(list->jvms[i], text);

		if (how)
			add_match(&m, list->jvms[i], how);
	}
	if (m.all == 0)
		return nobody(list, text, err);
	if (m.whole > 1)
		return ambiguous(list, text, WHOLE, m.whole, !m.one_user, err);
	/* A whole name is meant even when another contains it; but not when that is another user's,
	 * who might have wished to be taken for it. */
	if (m.all > 1 && !(m.whole == 1 && m.one_user))
		return ambiguous(list, text, PART, m.all, !m.one_user, err);
	*out = (struct which_jvm){.pid = m.best->pid, .start_ticks = m.best->start_ticks};
	return 0;
}

int which_jvm_list(struct client *c, Jxp__ControlReply **reply, struct err *err)
{
	Jxp__ListRequest list = JXP__LIST_REQUEST__INIT;

	return exchange_once(c, JXP__CONTROL_REQUEST__BODY_LIST, &list, reply, err);
}

int which_jvm_find(struct client *c, const char *text, struct which_jvm *out, struct err *err)
{
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	uint32_t pid;
	int r;

	if (parse_is_number(text)) {
		r = parse_pid(text, &pid, err);
		if (r == 0)
			*out = (struct which_jvm){.pid = pid};
		return r;
	}
	if (text[0] == '\0')
		return err_set(err, EINVAL, "'' is neither a pid nor a name: see 'jxperfctl list'");
	r = which_jvm_list(c, &reply, err);
	return r < 0 ? r : which_jvm_match(reply->jvms, text, out, err);
}

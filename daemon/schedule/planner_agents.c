#include "daemon/schedule/planner.h"

#include <string.h>

#include "common/label.h"
#include "daemon/schedule/planner_state.h"

/* "1.2.3", and what may follow behind '-', '+' or '~'. */
static bool is_version(const char *text)
{
	for (int part = 0; part < 3; part++) {
		size_t digits = strspn(text, "0123456789");

		if (digits < 1 || digits > 4 || (part < 2 && text[digits] != '.'))
			return false;
		text += digits + (part < 2);
	}
	return !*text ||
	       (strchr("-+~", *text) && text[1] && label_is_valid(text + 1, strlen(text + 1)));
}

struct version_owner {
	uid_t uid;
	unsigned versions; /* a bit for each place */
};

static struct version_owner *find_owner(struct version_owner *owners, size_t *count, uid_t uid)
{
	size_t i = 0;

	while (i < *count && owners[i].uid != uid)
		i++;
	if (i == *count)
		owners[(*count)++] = (struct version_owner){.uid = uid};
	return &owners[i];
}

#define OTHER_VERSION (PLANNER_AGENTS_MAX - 1)

/* Where a JVM's version is counted. */
static size_t place_version(const struct planner_agents *counts, size_t n, const char *version,
			    struct version_owner *owner)
{
	size_t at = 0;
	bool has;

	if (strcmp(version, AGENT_VERSION_UNTOLD) != 0 && !is_version(version))
		return OTHER_VERSION;
	while (at < n && strcmp(counts[at].version, version) != 0)
		at++;
	if (at >= OTHER_VERSION)
		return OTHER_VERSION;
	has = owner->versions & 1u << at;
	if (!has && __builtin_popcount(owner->versions) >= PLANNER_AGENTS_OF_USER)
		return OTHER_VERSION;
	owner->versions |= 1u << at;
	return at;
}

size_t planner_count_agents(const struct planner *p,
			    struct planner_agents counts[PLANNER_AGENTS_MAX])
{
	struct version_owner owners[KNOWN_JVMS_MAX];
	struct planner_agents *other = &counts[OTHER_VERSION];
	size_t n = 0, owner_count = 0;

	*other = (struct planner_agents){.version = "other"};
	for (size_t i = 0; i < p->jvms.count; i++) {
		const struct known_jvm *jvm = &p->jvms.rows[i];
		size_t at;

		if (!jvm->agent_version[0])
			continue;
		at = place_version(counts, n, jvm->agent_version,
				   find_owner(owners, &owner_count, jvm->uid));
		if (at == n && at < OTHER_VERSION) {
			counts[n++] = (struct planner_agents){0};
			strcpy(counts[at].version, jvm->agent_version); /* Same size. */
		}
		counts[at].jvms++;
	}
	if (other->jvms)
		counts[n++] = *other;
	return n;
}

#include "fleet/naming.h"

#include <string.h>

#include "common/label.h"
#include "fleet/config/template.h"

struct name_slice {
	const char *text;
	size_t length;
};

static struct name_slice whole(const char *text)
{
	return (struct name_slice){text, text ? strlen(text) : 0};
}

/* "NAME=" in "NAME=VALUE" texts: the value, or nothing. */
static struct name_slice named(const char *const *all, size_t count,
			       const struct template_part *part)
{
	for (size_t i = 0; i < count; i++)
		if (strncmp(all[i], part->text, part->length) == 0 && all[i][part->length] == '=')
			return whole(all[i] + part->length + 1);
	return (struct name_slice){0};
}

static bool ends_with(struct name_slice s, const char *suffix)
{
	size_t length = strlen(suffix);

	return s.length > length && memcmp(s.text + s.length - length, suffix, length) == 0;
}

/* The first part of a control group's path that is no slice, if it is a service:
 * "/system.slice/a.service/b" is a's. What is below it was made by a, and what is in user.slice by
 * users, whose units are not the system's: they may have any name. */
static struct name_slice unit_of(const char *cgroup)
{
	const char *part = cgroup ? cgroup : "";

	for (;;) {
		struct name_slice s;

		part += strspn(part, "/");
		s = (struct name_slice){part, strcspn(part, "/")};
		if (ends_with(s, ".service"))
			return (struct name_slice){s.text, s.length - strlen(".service")};
		if (!ends_with(s, ".slice") || strncmp(part, "user.slice", s.length) == 0)
			return (struct name_slice){0};
		part += s.length;
	}
}

/* "registry:5000/team/name:tag@sha256:digest" is "name"; one without a name, "sha256:digest", is
 * nothing. */
static struct name_slice image_of(const char *image)
{
	struct name_slice s = {image, image ? strcspn(image, "@") : 0};
	const char *slash = s.length > 0 ? memrchr(s.text, '/', s.length) : NULL;
	const char *colon;

	if (s.length == 0 || strncmp(image, "sha256:", 7) == 0)
		return (struct name_slice){0};
	if (slash)
		s = (struct name_slice){slash + 1, s.length - (size_t)(slash + 1 - s.text)};
	colon = memchr(s.text, ':', s.length);
	if (colon)
		s.length = (size_t)(colon - s.text);
	return s;
}

static struct name_slice value_of(const struct template_part *part, const struct jvm_facts *jvm)
{
	switch (part->kind) {
	case TEMPLATE_TEXT:
		return (struct name_slice){part->text, part->length};
	case TEMPLATE_MAIN_CLASS:
		return whole(jvm->main_class);
	case TEMPLATE_UNIT:
		return unit_of(jvm->cgroup);
	case TEMPLATE_IMAGE:
		return image_of(jvm->image);
	case TEMPLATE_LABEL:
		return named(jvm->labels, jvm->label_count, part);
	case TEMPLATE_ENV:
		return named(jvm->environment, jvm->environment_count, part);
	default:
		return (struct name_slice){0};
	}
}

/* False when something that the template names is not known. */
static bool fill(char text[NAMING_BYTES], const char *template, const struct jvm_facts *jvm)
{
	char made[NAMING_BYTES];
	struct template_part part;
	size_t used = 0;

	while (template_next(&template, &part, NULL) == 0 && part.kind != TEMPLATE_END) {
		struct name_slice value = value_of(&part, jvm);

		if (value.length == 0)
			return false;
		for (size_t i = 0; i < value.length && used < NAMING_BYTES - 1; i++)
			made[used++] = label_may_have(value.text[i]) ? value.text[i] : '_';
	}
	if (used == 0)
		return false;
	made[used] = '\0';
	strcpy(text, made); /* Same size. */
	return true;
}

static void say_version(char version[NAMING_BYTES], const struct config_app *rule,
			const struct jvm_facts *jvm)
{
	if (!rule->version || !fill(version, rule->version, jvm))
		version[0] = '\0';
}

bool naming_app(const struct config *c, const struct jvm_facts *jvm, char app[NAMING_BYTES],
		char version[NAMING_BYTES])
{
	for (size_t i = 0; i < c->app_count; i++) {
		const struct config_app *rule = &c->apps[i];

		if (!selector_matches(&rule->match, jvm) || !fill(app, rule->app, jvm))
			continue;
		if (version)
			say_version(version, rule, jvm);
		return true;
	}
	return false;
}

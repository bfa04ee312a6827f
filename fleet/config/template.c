#include "fleet/config/template.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static const struct {
	const char *name;
	enum template_kind kind;
	bool named; /* ":NAME" comes after it */
} placeholders[] = {
    {"main-class", TEMPLATE_MAIN_CLASS, false},
    {"unit", TEMPLATE_UNIT, false},
    {"image", TEMPLATE_IMAGE, false},
    {"label", TEMPLATE_LABEL, true},
    {"env", TEMPLATE_ENV, true},
};

#define PLACEHOLDERS "{main-class}, {unit}, {image}, {label:NAME} or {env:NAME}"

/* inside: what is between the braces. */
static int take_placeholder(const char *inside, size_t length, struct template_part *part,
			    struct err *err)
{
	const char *colon = memchr(inside, ':', length);
	size_t name = colon ? (size_t)(colon - inside) : length;

	for (size_t i = 0; i < sizeof(placeholders) / sizeof(placeholders[0]); i++) {
		if (strlen(placeholders[i].name) != name ||
		    memcmp(placeholders[i].name, inside, name) != 0)
			continue;
		if (placeholders[i].named != (name + 1 < length) ||
		    (colon && !placeholders[i].named))
			break;
		part->kind = placeholders[i].kind;
		part->text = inside + length - (colon ? length - name - 1 : 0);
		part->length = colon ? length - name - 1 : 0;
		return 0;
	}
	return err_set(err, EINVAL, "there is no '{%.*s}': use " PLACEHOLDERS, (int)length, inside);
}

int template_next(const char **at, struct template_part *part, struct err *err)
{
	const char *start = *at;
	size_t length = strcspn(start, "{}");
	int r = 0;

	*part = (struct template_part){
	    .kind = length > 0 ? TEMPLATE_TEXT : TEMPLATE_END, .text = start, .length = length};
	if (length == 0 && *start) {
		length = strcspn(start, "}");
		if (*start != '{' || !start[length])
			return err_set(err, EINVAL,
				       "'%s' has a brace without the other: use " PLACEHOLDERS,
				       start);
		r = take_placeholder(start + 1, length - 1, part, err);
		length++;
	}
	*at = start + length;
	return r;
}

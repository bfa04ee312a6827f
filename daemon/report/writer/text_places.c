#include "daemon/report/writer/text_places.h"

#include <ctype.h>
#include <string.h>

/* Behind the package of a class's name. That of a lambda has an address behind a slash, and hidden
 * ones digits behind a dot, which are no package. */
static const char *short_class(const char *name)
{
	const char *last = name;

	for (const char *c = name; *c && *c != '/' && *c != '['; c++)
		if (*c == '.' && (isalpha((unsigned char)c[1]) || c[1] == '_' || c[1] == '$'))
			last = c + 1;
	return last;
}

struct place {
	struct location location;
	const char *class_name; /* short */
	const char *owner;      /* short: of the field */
	const char *field;
};

static struct place place_of(const struct profile *p, uint32_t id)
{
	struct location l = locations_get(&p->locations, id);
	const char *class_name = short_class(strings_get(&p->strings, l.class_name));

	return (struct place){.location = l,
			      .class_name = class_name,
			      .owner = l.declared_in
					   ? short_class(strings_get(&p->strings, l.declared_in))
					   : class_name,
			      .field = strings_get(&p->strings, l.field)};
}

static void unnamed(FILE *out, const char *class_name, Jxp__Region region)
{
	static const char *const words[PROFILE_REGIONS] = {
	    [JXP__REGION__REGION_OTHER] = "memory outside the heap",
	    [JXP__REGION__REGION_HEAP] = "heap memory",
	    [JXP__REGION__REGION_STACK] = "the stack",
	};

	if (class_name[0])
		fprintf(out, "a place in %s", class_name);
	else
		fputs(words[region], out);
}

void report_text_place(FILE *out, const struct profile *p, uint32_t location, Jxp__Region region)
{
	struct place place = place_of(p, location);

	switch ((Jxp__Location__Kind)place.location.kind) {
	case JXP__LOCATION__KIND__FIELD:
		fprintf(out, "%s.%s", place.owner, place.field);
		break;
	case JXP__LOCATION__KIND__STATIC:
		fprintf(out, "%s.%s (static)", place.owner, place.field);
		break;
	case JXP__LOCATION__KIND__ELEMENT:
		fprintf(out, "elements of %s", place.class_name[0] ? place.class_name : "an array");
		break;
	case JXP__LOCATION__KIND__HEADER:
		fprintf(out, "the %s%s of %s", place.field,
			strcmp(place.field, "length") == 0 ? "" : " word",
			place.class_name[0] ? place.class_name : "an object");
		break;
	case JXP__LOCATION__KIND__SPILL:
		fputs("compiler's spills", out);
		break;
	case JXP__LOCATION__KIND__STACK:
		fputs("the stack", out);
		break;
	default:
		unnamed(out, place.class_name, region);
	}
}

void report_text_class(FILE *out, const struct profile *p, uint32_t class_name)
{
	fputs(short_class(strings_get(&p->strings, class_name)), out);
}

void report_text_owner(FILE *out, const struct profile *p, uint32_t location)
{
	fputs(place_of(p, location).owner, out);
}

void report_text_method(FILE *out, const struct profile *p, uint32_t method)
{
	const struct cct_method *m = cct_method(&p->cct, method);

	if (m)
		fprintf(out, "%s.%s", short_class(strings_get(&p->strings, m->class_name)),
			strings_get(&p->strings, m->name));
	else
		fputs("[unknown]", out);
}

void report_text_line(FILE *out, const struct profile *p, uint32_t node)
{
	const struct cct_node *n = cct_node(&p->cct, node);
	const struct cct_method *m = n ? cct_method(&p->cct, n->method) : NULL;
	const char *file;

	if (!m) {
		fputs("[unknown]", out);
		return;
	}
	file = strings_get(&p->strings, m->file);
	fprintf(out, "%s.%s", short_class(strings_get(&p->strings, m->class_name)),
		strings_get(&p->strings, m->name));
	if (n->line > 0)
		fprintf(out, "(%s:%d)", file[0] ? file : "Unknown Source", n->line);
	else
		fprintf(out, "(%s)", file[0] ? file : "Unknown Source");
}

bool report_is_same_line(const struct profile *p, uint32_t node, uint32_t other)
{
	const struct cct_node *x = cct_node(&p->cct, node), *y = cct_node(&p->cct, other);

	return x && y && x->method == y->method && x->line == y->line;
}

void report_text_percent(FILE *out, double fraction)
{
	double percent = 100 * fraction;

	fprintf(out, percent > 0 && percent < 0.095 ? "%.2f%%" : "%.1f%%", percent);
}

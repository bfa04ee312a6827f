#include "report/writer/text_places.h"

#include <ctype.h>
#include <string.h>

#include "profile/certainty.h"
#include "report/content/names.h"

/* The name of a lambda's class has an address behind a slash, and hidden ones have digits behind a
 * dot, which are no package. */
const char *report_text_without_package(const char *name)
{
	const char *last = name;

	for (const char *c = name; *c && *c != '/' && *c != '['; c++)
		if (*c == '.' && (isalpha((unsigned char)c[1]) || c[1] == '_' || c[1] == '$'))
			last = c + 1;
	return last;
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
	struct place_names place = place_names(p, location);
	const char *class_name = report_text_without_package(place.class_name),
		   *owner = report_text_without_package(place.owner);

	switch (place.kind) {
	case JXP__LOCATION__KIND__FIELD:
		fprintf(out, "%s.%s", owner, place.field);
		break;
	case JXP__LOCATION__KIND__STATIC:
		fprintf(out, "%s.%s (static)", owner, place.field);
		break;
	case JXP__LOCATION__KIND__ELEMENT:
		fprintf(out, "elements of %s", class_name[0] ? class_name : "an array");
		break;
	case JXP__LOCATION__KIND__HEADER:
		fprintf(out, "the %s%s of %s", place.field,
			strcmp(place.field, "length") == 0 ? "" : " word",
			class_name[0] ? class_name : "an object");
		break;
	case JXP__LOCATION__KIND__SPILL:
		fputs("compiler's spills", out);
		break;
	case JXP__LOCATION__KIND__STACK:
		fputs("the stack", out);
		break;
	default:
		unnamed(out, class_name, region);
	}
}

void report_text_location(FILE *out, const struct profile *p, uint32_t location)
{
	struct place_names place = place_names(p, location);

	switch (place.kind) {
	case JXP__LOCATION__KIND__FIELD:
		fprintf(out, "%s.%s", place.class_name, place.field);
		if (strcmp(place.owner, place.class_name) != 0)
			fprintf(out, " (of %s)", place.owner);
		break;
	case JXP__LOCATION__KIND__STATIC:
		fprintf(out, "%s.%s (static)", place.class_name, place.field);
		break;
	case JXP__LOCATION__KIND__ELEMENT:
		fprintf(out, "element of %s", place.class_name);
		break;
	case JXP__LOCATION__KIND__HEADER:
		fprintf(out, "%s of %s (header)", place.field, place.class_name);
		break;
	case JXP__LOCATION__KIND__SPILL:
		fputs("the stack: a value that the compiler had no register for", out);
		break;
	case JXP__LOCATION__KIND__STACK:
		fputs("the thread's stack", out);
		break;
	default:
		if (place.class_name[0])
			fprintf(out, "%s, field not known", place.class_name);
		else
			fputs("memory whose object is not known", out);
	}
}

void report_text_class(FILE *out, const struct profile *p, uint32_t class_name)
{
	fputs(report_text_without_package(strings_get(&p->strings, class_name)), out);
}

void report_text_owner(FILE *out, const struct profile *p, uint32_t location)
{
	fputs(report_text_without_package(place_names(p, location).owner), out);
}

void report_text_method(FILE *out, const struct profile *p, uint32_t method)
{
	struct method_names names = method_names(p, method);

	if (names.known)
		fprintf(out, "%s.%s", report_text_without_package(names.class_name), names.name);
	else
		fputs(METHOD_UNKNOWN, out);
}

void report_text_method_whole(FILE *out, const struct profile *p, uint32_t method)
{
	struct method_names names = method_names(p, method);

	if (names.known)
		fprintf(out, "%s.%s", names.class_name, names.name);
	else
		fputs(METHOD_UNKNOWN, out);
}

/* "(HashMap.java:631)" */
static void source(FILE *out, const char *file, int32_t line)
{
	fprintf(out, "(%s", file[0] ? file : "Unknown Source");
	if (line > 0)
		fprintf(out, ":%d", line);
	fputc(')', out);
}

void report_text_line(FILE *out, const struct profile *p, uint32_t node)
{
	struct method_names names = frame_names(p, node);

	report_text_method(out, p, node ? cct_node(&p->cct, node)->method : 0);
	if (names.known)
		source(out, names.file, cct_node(&p->cct, node)->line);
}

void report_text_frame(FILE *out, const struct profile *p, uint32_t id)
{
	const struct cct_node *node = cct_node(&p->cct, id);
	struct method_names names = method_names(p, node->method);

	report_text_method_whole(out, p, node->method);
	if (!names.known)
		return;
	if (node->tier == JXP__TIER__TIER_NATIVE)
		fputs("(Native Method)", out);
	else if (node->certainty == CERTAINTY_METHOD && node->bci < 0)
		fprintf(out, "(%s, inlined somewhere in it)",
			names.file[0] ? names.file : "Unknown Source");
	else
		source(out, names.file, node->line);
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

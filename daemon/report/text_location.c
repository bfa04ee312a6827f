/* What an access touched, in words: of pairs, of allocation sites and of classes alike. */
#include "daemon/report/writer/text_writer.h"

/* A field of a superclass is looked for there. */
static void field(FILE *out, const struct profile *p, const struct location *l)
{
	fprintf(out, "%s.%s", strings_get(&p->strings, l->class_name),
		strings_get(&p->strings, l->field));
	if (l->declared_in && l->declared_in != l->class_name)
		fprintf(out, " (of %s)", strings_get(&p->strings, l->declared_in));
}

static void unnamed(FILE *out, const struct profile *p, const struct location *l)
{
	if (l->class_name)
		fprintf(out, "%s, field not known", strings_get(&p->strings, l->class_name));
	else
		fputs("memory whose object is not known", out);
}

void report_text_location(FILE *out, const struct profile *p, uint32_t location)
{
	struct location l = locations_get(&p->locations, location);
	const char *class_name = strings_get(&p->strings, l.class_name);

	switch ((Jxp__Location__Kind)l.kind) {
	case JXP__LOCATION__KIND__FIELD:
		field(out, p, &l);
		break;
	case JXP__LOCATION__KIND__STATIC:
		fprintf(out, "%s.%s (static)", class_name, strings_get(&p->strings, l.field));
		break;
	case JXP__LOCATION__KIND__ELEMENT:
		fprintf(out, "element of %s", class_name);
		break;
	case JXP__LOCATION__KIND__HEADER:
		fprintf(out, "%s of %s (header)", strings_get(&p->strings, l.field), class_name);
		break;
	case JXP__LOCATION__KIND__SPILL:
		fputs("the stack: a value that the compiler had no register for", out);
		break;
	case JXP__LOCATION__KIND__STACK:
		fputs("the thread's stack", out);
		break;
	default:
		unnamed(out, p, &l);
	}
}

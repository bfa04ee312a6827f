#include "subsume/label.h"

#include <stdbool.h>
#include <string.h>

struct label_parts subsume_label_parts(const char *label)
{
	struct label_parts p = {.class_name = label, .method = label};
	const char *end = label + strcspn(label, "(");
	const char *point;

	/* A native function's name may be all in brackets. */
	if (end == label)
		end = label + strlen(label);
	point = memrchr(label, '.', (size_t)(end - label));
	if (point && point > label && point + 1 < end) {
		p.class_length = (size_t)(point - label);
		p.method = point + 1;
	}
	p.method_length = (size_t)(end - p.method);
	p.descriptor = end;
	return p;
}

/* The name of a primitive type in a descriptor (JVM specification, table 4.3-A), or NULL. */
static const char *primitive(char c)
{
	static const char letters[] = "BCDFIJSZ";
	static const char *const names[] = {"byte", "char", "double", "float",
					    "int",  "long", "short",  "boolean"};
	const char *at = c ? strchr(letters, c) : NULL;

	return at ? names[at - letters] : NULL;
}

/* The end of the parameter type that begins here, or NULL if none does. Collapsed stacks have ','
 * for ';'. */
static const char *type_end(const char *at)
{
	at += strspn(at, "[");
	if (primitive(*at))
		return at + 1;
	if (*at != 'L')
		return NULL;
	at += strcspn(at, ";,)");
	return *at == ';' || *at == ',' ? at + 1 : NULL;
}

static void write_type(FILE *out, const char *type, const char *end)
{
	size_t dimensions = strspn(type, "[");
	const char *name = type + dimensions;

	if (*name == 'L') {
		for (const char *p = ++name; p < end; p++)
			if (*p == '/' || *p == '.')
				name = p + 1;
		(void)fwrite(name, 1, (size_t)(end - 1 - name), out);
	} else {
		(void)fputs(primitive(*name), out);
	}
	for (; dimensions > 0; dimensions--)
		(void)fputs("[]", out);
}

static bool is_descriptor(const char *text)
{
	const char *at = text;

	if (*at++ != '(')
		return false;
	while (at && *at != ')')
		at = type_end(at);
	return at != NULL;
}

void subsume_label_write(FILE *out, const char *label)
{
	struct label_parts p = subsume_label_parts(label);

	if (!is_descriptor(p.descriptor)) {
		(void)fputs(label, out);
		return;
	}
	(void)fwrite(label, 1, (size_t)(p.descriptor + 1 - label), out);
	for (const char *at = p.descriptor + 1, *end; *at != ')'; at = end) {
		end = type_end(at);
		if (at > p.descriptor + 1)
			(void)fputs(", ", out);
		write_type(out, at, end);
	}
	(void)fputc(')', out);
}

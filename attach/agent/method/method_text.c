#include "attach/agent/method/method_text.h"

#include <string.h>

/* JVMS 4.2.2: in no name of a method or a part of a class's; nor is what is not printed. */
static bool is_part(char c)
{
	return (unsigned char)c >= ' ' && !strchr(".;[/", c);
}

bool text_is_class_name(const char *text, size_t length)
{
	bool began = false;

	for (size_t i = 0; i < length; i++) {
		if (text[i] == '/' ? !began : !is_part(text[i]))
			return false;
		began = text[i] != '/';
	}
	return began;
}

bool text_is_method_name(const char *text, size_t length)
{
	if (length > 0 && text[0] == '<')
		return (length == 6 && memcmp(text, "<init>", 6) == 0) ||
		       (length == 8 && memcmp(text, "<clinit>", 8) == 0);
	for (size_t i = 0; i < length; i++)
		if (!is_part(text[i]) || text[i] == '<' || text[i] == '>')
			return false;
	return length > 0;
}

/* Where the type that begins at text ends; NULL where there is none. */
static const char *end_of_type(const char *text, const char *end)
{
	const char *semicolon;

	while (text < end && *text == '[')
		text++;
	if (text >= end)
		return NULL;
	if (*text != 'L')
		return *text && strchr("BCDFIJSZ", *text) ? text + 1 : NULL;
	semicolon = memchr(text, ';', (size_t)(end - text));
	return semicolon && text_is_class_name(text + 1, (size_t)(semicolon - text) - 1)
		   ? semicolon + 1
		   : NULL;
}

bool text_is_descriptor(const char *text, size_t length)
{
	const char *end = text + length;

	if (length < 3 || *text++ != '(')
		return false;
	while (text && text < end && *text != ')')
		text = end_of_type(text, end);
	if (!text || text == end)
		return false;
	text++;
	return (end - text == 1 && *text == 'V') || (text < end && end_of_type(text, end) == end);
}

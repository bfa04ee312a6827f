#include "attach/agent/method/java_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *primitive_name(char c)
{
	switch (c) {
	case 'Z':
		return "boolean";
	case 'B':
		return "byte";
	case 'C':
		return "char";
	case 'S':
		return "short";
	case 'I':
		return "int";
	case 'J':
		return "long";
	case 'F':
		return "float";
	case 'D':
		return "double";
	default:
		return "?";
	}
}

char *java_name_of(const char *signature)
{
	size_t dimensions = strspn(signature, "[");
	const char *element = signature + dimensions;
	size_t length;
	char *name;

	if (*element != 'L')
		element = primitive_name(*element);
	length = strlen(element);
	name = malloc(length + 2 * dimensions + 1);
	if (!name)
		return NULL;
	if (*element == 'L') {
		element++;
		length -= length > 1 ? 2 : 1; /* 'L' and ';' */
	}
	memcpy(name, element, length);
	name[length] = '\0';
	for (char *p = name; *p; p++)
		if (*p == '/')
			*p = '.';
	for (size_t i = 0; i < dimensions; i++)
		strcat(name, "[]");
	return name;
}

char *java_name_of_symbol(const char *symbol)
{
	char *signature, *name;

	if (symbol[0] == '[')
		return java_name_of(symbol);
	if (asprintf(&signature, "L%s;", symbol) < 0)
		return NULL;
	for (char *plus = signature; (plus = strstr(plus, "+0x"));)
		*plus = '/';
	name = java_name_of(signature);
	free(signature);
	return name;
}

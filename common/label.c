#include "common/label.h"

bool label_may_have(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '.' || c == '_' || c == '-';
}

bool label_is_valid(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!label_may_have(text[i]))
			return false;
	return true;
}

char label_in_stacks(char c)
{
	if (c == ';')
		return ',';
	return c == ' ' ? '_' : c;
}

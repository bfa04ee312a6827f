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

bool label_is_identifier(const char *text)
{
	size_t length = 0;

	while (text[length] && label_may_have(text[length]) && text[length] != '.' &&
	       text[length] != '-')
		length++;
	return length > 0 && !text[length] && (text[0] < '0' || text[0] > '9');
}

char label_in_stacks(char c)
{
	if (c == ';')
		return ',';
	return c == ' ' ? '_' : c;
}

#include "subsume/names.h"

#include <string.h>

/* A hidden class has its address behind its name: "0x" and 16 digits, and not the few of an offset
 * in a native symbol, as in "memcpy+0x1a". */
#define ADDRESS_DIGITS_MIN 8u

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Part of a name in Java; bytes above 127 are of UTF-8. */
static bool is_identifier(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       c == '$' || (unsigned char)c >= 0x80;
}

static size_t digits(const char *at, const char *end)
{
	const char *p = at;

	while (p < end && is_digit(*p))
		p++;
	return (size_t)(p - at);
}

/* Bytes of a hidden class's suffix that starts here, or 0: an address behind any of these
 * separators, or, of JDK 8, a decimal hash behind a slash. No identifier begins with a digit. */
static size_t hidden_suffix(const char *at, const char *end)
{
	const char *p = at + 1;

	if (*at != '/' && *at != '+' && *at != '.')
		return 0;
	if (end - p > 2 && p[0] == '0' && p[1] == 'x') {
		for (p += 2; p < end && is_hex(*p); p++)
			;
		if ((size_t)(p - at) < 3 + ADDRESS_DIGITS_MIN)
			return 0;
	} else if (*at == '/') {
		p += digits(p, end);
	} else {
		return 0;
	}
	return p > at + 1 && (p == end || !is_identifier(*p)) ? (size_t)(p - at) : 0;
}

/* Numbers stand behind these, up to the end of the class's name. */
static const struct {
	const char *before;
	bool dollar; /* a '$' is before the number, and goes with it */
} numbered[] = {
    {"$$Lambda", true},
    {"GeneratedMethodAccessor", false},
    {"GeneratedConstructorAccessor", false},
    {"GeneratedSerializationConstructorAccessor", false},
    {"$Proxy", false},
    {"jdk.proxy", false},
    {"jdk/proxy", false},
};

static bool ends_with(const char *text, size_t length, const char *what)
{
	size_t wanted = strlen(what);

	return length >= wanted && memcmp(text + length - wanted, what, wanted) == 0;
}

/* Bytes of such a number that starts here, its '$' included, or 0. kept is what is before it. */
static size_t class_number(const char *kept, size_t kept_length, const char *at, const char *end)
{
	bool dollar = *at == '$';
	size_t count = digits(at + dollar, end);
	const char *behind = at + dollar + count;

	if (!count || (behind < end && is_identifier(*behind)))
		return 0;
	for (size_t i = 0; i < sizeof(numbered) / sizeof(numbered[0]); i++)
		if (numbered[i].dollar == dollar &&
		    ends_with(kept, kept_length, numbered[i].before))
			return count + dollar;
	return 0;
}

size_t subsume_name_normalise(const char *name, size_t length, char *out)
{
	const char *end = out + length;
	size_t kept = 0;

	/* Most names have no digit, and are looked at no further. */
	while (kept < length && !is_digit(name[kept]))
		kept++;
	memmove(out, name, length);
	if (kept == length)
		return length;
	kept = 0;
	for (const char *p = out; p < end;) {
		size_t left_out = hidden_suffix(p, end);

		if (!left_out)
			left_out = class_number(out, kept, p, end);
		if (left_out)
			p += left_out;
		else
			out[kept++] = *p++;
	}
	return kept;
}

/* Whether the name begins so, with either separator between packages. Returns what is behind it. */
static const char *behind_prefix(const char *name, const char *end, const char *prefix)
{
	for (; *prefix; name++, prefix++)
		if (name == end || (*name != *prefix && !(*name == '/' && *prefix == '.')))
			return NULL;
	return name;
}

static bool contains(const char *at, const char *end, const char *what)
{
	return memmem(at, (size_t)(end - at), what, strlen(what)) != NULL;
}

bool subsume_name_always_subsumed(const char *name, size_t length)
{
	const char *end = name + length;
	const char *rest = behind_prefix(name, end, "java.lang.reflect.Method.invoke");

	if (rest)
		return rest == end || *rest == '(';
	/* NativeMethodAccessorImpl, GeneratedMethodAccessor, DirectMethodHandleAccessor.. */
	rest = behind_prefix(name, end, "jdk.internal.reflect.");
	if (!rest)
		rest = behind_prefix(name, end, "sun.reflect.");
	if (rest)
		return contains(rest, end, "Accessor");
	/* doPrivileged, doPrivilegedWithCombiner, executePrivileged. */
	rest = behind_prefix(name, end, "java.security.AccessController.");
	if (rest)
		return contains(rest, end, "Privileged");
	/* Those of the JDK's own archive are in classes called Holder. */
	rest = behind_prefix(name, end, "java.lang.invoke.");
	return rest && (behind_prefix(rest, end, "LambdaForm") || contains(rest, end, "$Holder."));
}

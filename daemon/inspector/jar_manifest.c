#include "daemon/inspector/jar_manifest.h"

#include "common/utf8.h"

#include <errno.h>
#include <string.h>

/* The first that is there counts. */
static const char *const attributes[] = {"Implementation-Version", "Bundle-Version"};
#define ATTRIBUTES (sizeof(attributes) / sizeof(attributes[0]))

/* Takes what is ahead of the line's end, and that end, off the text. False: the text has no end of
 * a line any more, and all of it is the last line. */
static bool next_line(const char **text, size_t *size, const char **line, size_t *length)
{
	size_t n = 0;
	bool ended;

	while (n < *size && (*text)[n] != '\r' && (*text)[n] != '\n')
		n++;
	*line = *text;
	*length = n;
	ended = n < *size;
	if (ended)
		n += n + 1 < *size && (*text)[n] == '\r' && (*text)[n + 1] == '\n' ? 2 : 1;
	*text += n;
	*size -= n;
	return ended;
}

/* Which of the attributes the line gives, its value from *at on; or ATTRIBUTES. */
static size_t attribute_of(const char *line, size_t length, size_t *at)
{
	for (size_t i = 0; i < ATTRIBUTES; i++) {
		size_t name = strlen(attributes[i]);

		*at = name + 2;
		if (length >= *at && strncasecmp(line, attributes[i], name) == 0 &&
		    line[name] == ':' && line[name + 1] == ' ')
			return i;
	}
	return ATTRIBUTES;
}

struct manifest_value {
	char text[JAR_VERSION_BYTES];
	size_t length; /* also of what there was no room for */
};

static void append(struct manifest_value *v, const char *more, size_t length)
{
	for (size_t i = 0; i < length; i++, v->length++)
		if (v->length < sizeof(v->text))
			v->text[v->length] = more[i];
}

/* Without the blanks around it. */
static int take(struct manifest_value *v, char version[JAR_VERSION_BYTES])
{
	char shown[JAR_VERSION_BYTES];
	const char *begin = v->text;

	if (v->length >= sizeof(v->text) || memchr(v->text, '\0', v->length))
		return -ENODATA;
	while (v->length > 0 && v->text[v->length - 1] == ' ')
		v->length--;
	v->text[v->length] = '\0';
	begin += strspn(begin, " ");
	/* What can be shown is what comes out as it went in. */
	(void)utf8_sanitize(shown, sizeof(shown), begin);
	if (!*begin || strcmp(shown, begin) != 0)
		return -ENODATA;
	strcpy(version, begin); /* Not longer. */
	return 0;
}

int jar_manifest_version(const char *text, size_t size, bool whole, char version[JAR_VERSION_BYTES])
{
	struct manifest_value values[ATTRIBUTES] = {0};
	size_t in = ATTRIBUTES; /* the value that a line goes on with */
	bool ended;

	do {
		const char *line;
		size_t length, at;

		ended = next_line(&text, &size, &line, &length);
		if (length == 0 && (ended || whole))
			break;
		if (!ended && !whole)
			return -EFBIG;
		if (*line == ' ') {
			if (in < ATTRIBUTES)
				append(&values[in], line + 1, length - 1);
			continue;
		}
		in = attribute_of(line, length, &at);
		if (in < ATTRIBUTES) {
			values[in].length = 0;
			append(&values[in], line + at, length - at);
		}
	} while (ended);
	return take(&values[values[0].length > 0 ? 0 : 1], version);
}

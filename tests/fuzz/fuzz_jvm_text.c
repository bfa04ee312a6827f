/*
 * Fuzzes the readers of text that a target chose: mappings, command lines, options, control groups,
 * environment, and what its JVM answers. libFuzzer entry point.
 *
 * The first byte chooses the reader. Each gets the rest in a heap block of exactly its size, with a
 * NUL behind where the reader is promised one.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "attach/process/jvm_flags.h"
#include "attach/process/jvm_text.h"
#include "attach/process/maps.h"
#include "attach/reply.h"
#include "common/utf8.h"

#define SHORT_BYTES 16

/* The text is also the content of every file it names, which is as nested as files get. */
static ssize_t read_file(void *arg, const char *path, char *text, size_t size)
{
	size_t n = strnlen(arg, size - 1);

	if (!*path)
		return -ENOENT;
	memcpy(text, arg, n);
	text[n] = '\0';
	return (ssize_t)n;
}

static void fuzz_maps(const char *text, size_t size)
{
	struct maps maps;

	maps_scan(&maps, text, size, "libjxperf-agent.so");
}

static void fuzz_reply(const char *text, size_t size)
{
	struct err err = {""};

	if (reply_parse(text, size, 1, "/x.so", &err) < 0 && !err.message[0])
		abort();
}

static void fuzz_cmdline(const char *text, size_t size)
{
	struct jvm_flags flags;
	char main_class[SHORT_BYTES];

	jvm_flags_init(&flags);
	jvm_flags_add_cmdline(&flags, text, size, "", NULL, main_class, sizeof(main_class));
	(void)jvm_flags_gc(&flags);
}

static void fuzz_options(char *text, size_t size)
{
	struct jvm_flags_reader reader = {read_file, text};
	struct jvm_flags flags;
	char main_class[SHORT_BYTES];

	jvm_flags_init(&flags);
	jvm_flags_add_text(&flags, text, &reader);
	jvm_flags_add_file(&flags, text);
	jvm_flags_add_cmdline(&flags, text, size + 1, text, &reader, main_class,
			      sizeof(main_class));
}

static void fuzz_words(const char *text, size_t size)
{
	char out[SHORT_BYTES], container[JVM_CONTAINER_BYTES];
	char label[JVM_LABEL_BYTES];

	(void)utf8_sanitize(out, sizeof(out), text);
	jvm_text_release_file(out, sizeof(out), text);
	jvm_text_container(container, text);
	for (const char *rest = text; rest; rest = jvm_text_next_label(label, rest))
		;
	(void)jvm_text_release(text);
	(void)jvm_text_collector(text);
	(void)jvm_text_application(text);
	(void)jvm_text_environ(text, size, "HOME");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t text_bytes = size - 1;
	char *exact, *terminated;

	if (size < 2)
		return 0;
	exact = malloc(text_bytes);
	terminated = malloc(text_bytes + 1);
	memcpy(exact, data + 1, text_bytes);
	memcpy(terminated, data + 1, text_bytes);
	terminated[text_bytes] = '\0';
	switch (data[0] % 5) {
	case 0:
		fuzz_maps(exact, text_bytes);
		break;
	case 1:
		fuzz_reply(exact, text_bytes);
		break;
	case 2:
		fuzz_cmdline(exact, text_bytes);
		break;
	case 3:
		fuzz_options(terminated, text_bytes);
		break;
	default:
		fuzz_words(terminated, text_bytes);
	}
	free(exact);
	free(terminated);
	return 0;
}

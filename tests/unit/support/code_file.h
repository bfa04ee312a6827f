/*
 * Compiled code as text, for tests: what a JVM made of a program, or what a test wrote.
 *
 *   image START SIZE METHOD      start in hex; the method that it was compiled from
 *   bytes HEX
 *   record OFFSET METHOD:BCI ... innermost first
 *   call OFFSET TARGET METHOD    OTHER, JAVA, STUB or NO_RETURN; what it leads to, if that is known
 *   method NUMBER NAME HEX       its bytecodes, - where they are not known
 *   descriptor NUMBER STATIC DESCRIPTOR   of a method; STATIC: 0 or 1
 *   io NUMBER                    the method is input or output
 *   member CLASS NAME DESCRIPTOR DECLARED_IN   numbered from 0 on; - is ""
 *   reference METHOD BCI MEMBER TARGET ...     those of a method in a row, ascending
 *   null OFFSET CONTINUATION     ascending
 *
 * What follows a # is left out. The image is the caller's to release.
 */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_CODE_FILE_H
#define JXPERF_TESTS_UNIT_SUPPORT_CODE_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/loops/code_image.h"

#define CODE_FILE_ITEMS_MAX 65536u

static int code_file_digit(char c)
{
	return c <= '9' ? c - '0' : c - 'a' + 10;
}

static size_t code_file_hex(const char *text, uint8_t *to)
{
	size_t count = 0;

	for (; text[0] && text[1] && strchr("0123456789abcdef", text[0]); text += 2)
		to[count++] = (uint8_t)(code_file_digit(text[0]) << 4 | code_file_digit(text[1]));
	return count;
}

static void code_file_record(struct code_image *image, char *line)
{
	struct code_record *r = &image->records[image->record_count++];
	char *at = line + strlen("record");
	int used;

	*r = (struct code_record){.first_frame = (uint32_t)image->frame_count};
	r->offset = (uint32_t)strtoul(at, &at, 10);
	for (struct code_frame f; sscanf(at, " %u:%d%n", &f.method, &f.bci, &used) == 2;
	     at += used) {
		image->frames[image->frame_count++] = f;
		r->frame_count++;
	}
}

static void code_file_call(struct code_image *image, const char *line)
{
	static const char *const names[] = {"OTHER", "JAVA", "STUB", "NO_RETURN"};
	struct code_call *call = &image->calls[image->call_count++];
	char name[16] = "";
	uint32_t method;

	*call = (struct code_call){0};
	if (sscanf(line, "call %u %15s %u", &call->offset, name, &method) == 3)
		call->method = method + 1;
	for (unsigned i = 0; i < 4; i++)
		if (strcmp(name, names[i]) == 0)
			call->target = i;
}

static void code_file_method(struct code_image *image, const char *line)
{
	unsigned number = 0;
	int used = 0;

	(void)sscanf(line, "method %u %*s %n", &number, &used);
	if (number >= image->method_count)
		image->method_count = number + 1;
	image->methods[number] = (struct code_method){.bytecode = (uint32_t)image->bytecode_bytes};
	image->methods[number].bytecode_bytes =
	    (uint32_t)code_file_hex(line + used, image->bytecodes + image->bytecode_bytes);
	image->bytecode_bytes += image->methods[number].bytecode_bytes;
}

static uint32_t code_file_text(struct code_image *image, const char *text)
{
	size_t at = image->text_bytes;

	if (!text[0] || strcmp(text, "-") == 0)
		return 0;
	strcpy(image->texts + at, text);
	image->text_bytes += strlen(text) + 1;
	return (uint32_t)at;
}

static void code_file_descriptor(struct code_image *image, const char *line)
{
	unsigned number = 0, is_static = 0;
	char text[256] = "";

	(void)sscanf(line, "descriptor %u %u %255s", &number, &is_static, text);
	image->methods[number].is_static = is_static;
	image->methods[number].descriptor = code_file_text(image, text);
}

static void code_file_member(struct code_image *image, const char *line)
{
	char texts[4][256] = {"", "", "", ""};

	(void)sscanf(line, "member %255s %255s %255s %255s", texts[0], texts[1], texts[2],
		     texts[3]);
	image->members[image->member_count++] =
	    (struct code_member){.class_name = code_file_text(image, texts[0]),
				 .name = code_file_text(image, texts[1]),
				 .descriptor = code_file_text(image, texts[2]),
				 .declared_in = code_file_text(image, texts[3])};
}

static void code_file_reference(struct code_image *image, const char *line)
{
	struct code_reference r = {.first_target = (uint32_t)image->target_count};
	struct code_method *method;
	unsigned number = 0;
	int used = 0, more;

	(void)sscanf(line, "reference %u %u %u%n", &number, &r.bci, &r.member, &used);
	for (line += used; sscanf(line, " %u%n", &image->targets[image->target_count], &more) == 1;
	     line += more) {
		image->target_count++;
		r.target_count++;
	}
	method = &image->methods[number];
	if (method->reference_count++ == 0)
		method->first_reference = (uint32_t)image->reference_count;
	image->references[image->reference_count++] = r;
}

static void code_file_line(struct code_image *image, char *line)
{
	line[strcspn(line, "#\n")] = '\0';
	if (strncmp(line, "image ", 6) == 0) {
		unsigned long start = 0;

		(void)sscanf(line, "image %lx %u %u", &start, &image->size, &image->method);
		image->start = start;
		image->bytes = calloc(image->size + 1, 1);
	} else if (strncmp(line, "bytes ", 6) == 0 && image->bytes) {
		(void)code_file_hex(line + 6, image->bytes);
	} else if (strncmp(line, "descriptor ", 11) == 0) {
		code_file_descriptor(image, line);
	} else if (strncmp(line, "record ", 7) == 0) {
		code_file_record(image, line);
	} else if (strncmp(line, "call ", 5) == 0) {
		code_file_call(image, line);
	} else if (strncmp(line, "method ", 7) == 0) {
		code_file_method(image, line);
	} else if (strncmp(line, "member ", 7) == 0) {
		code_file_member(image, line);
	} else if (strncmp(line, "reference ", 10) == 0) {
		code_file_reference(image, line);
	} else if (strncmp(line, "null ", 5) == 0) {
		struct code_null_check *check = &image->null_checks[image->null_check_count++];

		(void)sscanf(line, "null %u %u", &check->offset, &check->continuation);
	} else if (strncmp(line, "io ", 3) == 0) {
		image->methods[strtoul(line + 3, NULL, 10)].io = true;
	}
}

static void code_file_init(struct code_image *image)
{
	*image = (struct code_image){
	    .records = calloc(CODE_FILE_ITEMS_MAX, sizeof(image->records[0])),
	    .frames = calloc(CODE_FILE_ITEMS_MAX, sizeof(image->frames[0])),
	    .calls = calloc(CODE_FILE_ITEMS_MAX, sizeof(image->calls[0])),
	    .methods = calloc(CODE_FILE_ITEMS_MAX, sizeof(image->methods[0])),
	    .bytecodes = calloc(CODE_FILE_ITEMS_MAX, 4),
	    .null_checks = calloc(CODE_FILE_ITEMS_MAX, sizeof(image->null_checks[0])),
	    .members = calloc(CODE_FILE_ITEMS_MAX, sizeof(image->members[0])),
	    .texts = calloc(CODE_FILE_ITEMS_MAX, 64),
	    .text_bytes = 1,
	    .loop_traps = 1u << 8 | 1u << 17 | 1u << 18, /* of JDK 17 */
	    .references = calloc(CODE_FILE_ITEMS_MAX, sizeof(image->references[0])),
	    .targets = calloc(CODE_FILE_ITEMS_MAX, sizeof(image->targets[0]))};
}

/* False when there is no file, which is closed. */
static bool code_file_read_lines(struct code_image *image, FILE *f)
{
	char *line = NULL;
	size_t room = 0;

	if (!f)
		return false;
	code_file_init(image);
	while (getline(&line, &room, f) > 0)
		code_file_line(image, line);
	free(line);
	(void)fclose(f);
	return true;
}

/* False when there is no such file. */
static inline bool code_file_read(struct code_image *image, const char *path)
{
	return code_file_read_lines(image, fopen(path, "r"));
}

/* Of what a test wrote; false when there is no memory. */
static inline bool code_file_read_text(struct code_image *image, const char *text)
{
	return code_file_read_lines(image, fmemopen((void *)(uintptr_t)text, strlen(text), "r"));
}

#endif

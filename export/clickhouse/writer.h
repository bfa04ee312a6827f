/*
 * Writes values as ClickHouse's RowBinary has them: little endian, texts and arrays behind their
 * length (https://clickhouse.com/docs/interfaces/formats/RowBinary). All return 0, -ENOBUFS or
 * -ENOMEM.
 */
#ifndef JXPERF_EXPORT_CLICKHOUSE_WRITER_H
#define JXPERF_EXPORT_CLICKHOUSE_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "common/buffer.h"
#include "proto/kinds.h"

struct house_writer {
	struct buffer buffer;
};

int house_put(struct house_writer *w, const void *bytes, size_t size);
int house_put_u8(struct house_writer *w, uint8_t value);
int house_put_u16(struct house_writer *w, uint16_t value);
int house_put_u32(struct house_writer *w, uint32_t value);
int house_put_u64(struct house_writer *w, uint64_t value);
int house_put_f64(struct house_writer *w, double value);

/* How long an array or a text is: 7 bits a byte, the lowest first. */
int house_put_length(struct house_writer *w, uint64_t length);
int house_put_text(struct house_writer *w, const char *text);

/* A class's name without what a JVM made up of it (compare/side.h). */
int house_put_class(struct house_writer *w, const char *name);

/* The name of a kind of pairs; "" of what is none. */
int house_put_kind(struct house_writer *w, Jxp__Kind kind);

#endif

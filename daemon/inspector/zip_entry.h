/*
 * The beginning of one entry of a zip file that somebody else wrote, and may be writing.
 *
 * Format: PKWARE's APPNOTE.TXT 6.3.10, sections 4.3.7 (local header), 4.3.12 (central directory)
 * and 4.3.16 (its end). What is in front of the archive, as the script of a jar that can be
 * executed, is passed over. Archives whose directory only ZIP64 can name are not read: those have 4
 * GiB and more.
 *
 * This is our own, since the inspector wants one small entry: libzip and minizip read the whole
 * directory into memory first, and each library that jxperf-child is linked with makes every start
 * of it slower. What unpacks is zlib, which is loaded when the first packed entry is read.
 *
 * Reads, and maps nothing: a file that is cut meanwhile is a short one. One thread.
 */
#ifndef JXPERF_DAEMON_INSPECTOR_ZIP_ENTRY_H
#define JXPERF_DAEMON_INSPECTOR_ZIP_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Entries that are looked at: as many as there are without ZIP64. */
#define ZIP_ENTRIES_MAX 65536u
/* Of a packed entry so many bytes are read. A text takes fewer bytes packed than it has; what
 * unpacks to nothing for longer has no more of it read. */
#define ZIP_PACKED_MAX (128u << 10)

/* Unpacks the first entry of that name, in whichever case its letters are, as far as there is room
 * in text. *whole becomes whether that is all of it. The bytes that are there now; or -errno with
 * *whole unchanged: -ENOENT: there is no such entry; -EBADMSG: that is no zip file, or it is
 * damaged; -ENOTSUP: encrypted, packed in another way, or there is no zlib here; or what reading
 * says. */
ssize_t zip_entry_read(int fd, const char *name, char *text, size_t size, bool *whole);

#endif

/*
 * The version that a jar's manifest gives, of the main section's text alone:
 * Implementation-Version, or where there is none Bundle-Version, which bundles of OSGi have.
 *
 * Format: the JDK's "JAR File Specification", "JAR Manifest": lines of at most 72 bytes end with
 * CR LF, LF or CR, one that begins with a blank goes on with the one before, and an empty one ends
 * the section. As in the JDK (java.util.jar.Attributes), names are told without case, and of one
 * that is there twice the last holds. The text is untrusted. Pure functions.
 */
#ifndef JXPERF_DAEMON_INSPECTOR_JAR_MANIFEST_H
#define JXPERF_DAEMON_INSPECTOR_JAR_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>

/* A version is as long as rules may give one (fleet/naming.h), with a NUL; a longer one is none,
 * since what is left of it might be another's. */
#define JAR_VERSION_BYTES 64

/* whole: the text is all of the manifest, else its beginning. 0; -ENODATA: it says none, or one
 * that is no line of UTF-8 that can be shown, or is too long; -EFBIG: the main section goes on
 * behind the text. version is unchanged on failure. */
int jar_manifest_version(const char *text, size_t size, bool whole,
			 char version[JAR_VERSION_BYTES]);

#endif

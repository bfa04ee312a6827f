/*
 * Names of methods as an analysis for subsuming methods takes them: without the numbers that the
 * JVM gives classes as it makes them, which are others in each run, and often in each thread.
 *
 *   Foo$$Lambda$14/0x00007f8d1c0a1000.run, Foo$$Lambda/0x.., Foo$$Lambda$14.0x.. -> Foo$$Lambda.run
 *   java.lang.invoke.LambdaForm$MH/0x0000000800c03000.invoke, ..$MH/1234567     ->
 * ..LambdaForm$MH.invoke jdk.internal.reflect.GeneratedMethodAccessor12.invoke ->
 * GeneratedMethodAccessor.invoke jdk.proxy2.$Proxy7.get, com.sun.proxy.$Proxy7.get ->
 * jdk.proxy.$Proxy.get, .. any other hidden class, Foo/0x.., Foo+0x.., Foo.0x.. -> Foo
 *
 * Classes have points or slashes between their packages. Names need not be valid in any way.
 *
 * Any thread; pure.
 */
#ifndef JXPERF_SUBSUME_NAMES_H
#define JXPERF_SUBSUME_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the name without those numbers to out, which has room for length bytes, and returns its
 * length; no NUL. out may be name. Of a normalised name nothing more is left out. */
size_t subsume_name_normalise(const char *name, size_t length, char *out);

/* Whether the name (a normalised one) is of a method that nobody looks for a cause in, however high
 * it is and far from others: Method.invoke (section 4.3 of the paper), what it calls to get to its
 * method, lambda forms, which JDK 18 and later use for that, and AccessController.doPrivileged. */
bool subsume_name_always_subsumed(const char *name, size_t length);

#endif

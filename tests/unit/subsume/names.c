#include "tests/unit/support/test.h"

#include <string.h>

#include "common/random.h"
#include "subsume/names.h"

TEST(numbers_of_classes_are_left_out)
{
	static const char *const rows[][2] = {
	    {"org.example.Foo$$Lambda$14/0x00007f8d1c0a1000.run()V",
	     "org.example.Foo$$Lambda.run()V"},
	    {"org.example.Foo$$Lambda/0x00007f8d1c0a1000.run", "org.example.Foo$$Lambda.run"},
	    {"org/example/Foo$$Lambda$14.0x0000000800c03000.run", "org/example/Foo$$Lambda.run"},
	    {"Foo$$Lambda+0x0000000800c03000.run", "Foo$$Lambda.run"},
	    {"Foo$$Lambda$14/1234567.run", "Foo$$Lambda.run"},
	    {"Foo$$Lambda$14", "Foo$$Lambda"},
	    {"java.lang.invoke.LambdaForm$MH/0x0000000800c03000.invoke_MT",
	     "java.lang.invoke.LambdaForm$MH.invoke_MT"},
	    {"jdk.internal.reflect.GeneratedMethodAccessor12.invoke",
	     "jdk.internal.reflect.GeneratedMethodAccessor.invoke"},
	    {"jdk.proxy2.$Proxy7.get", "jdk.proxy.$Proxy.get"},
	    {"com/sun/proxy/$Proxy123.get", "com/sun/proxy/$Proxy.get"},
	    {"Foo/0x0000000800c03000", "Foo"},
	    /* What is a person's choice stays. */
	    {"Foo$1.run", "Foo$1.run"},
	    {"Foo.lambda$main$0", "Foo.lambda$main$0"},
	    {"Foo$$Lambda$14b.run", "Foo$$Lambda$14b.run"},
	    {"Proxy7.get", "Proxy7.get"},
	    {"memcpy+0x1a", "memcpy+0x1a"},
	    {"main.main.func1.2", "main.main.func1.2"},
	    {"a.B2.c3([J)I", "a.B2.c3([J)I"},
	    {"/", "/"},
	    {"$1", "$1"},
	    {"1", "1"},
	    {"", ""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char out[256], in_place[256];
		size_t length = subsume_name_normalise(rows[i][0], strlen(rows[i][0]), out);

		out[length] = '\0';
		assert_string_equal(out, rows[i][1]);
		memcpy(in_place, rows[i][0], strlen(rows[i][0]));
		assert_int_equal(subsume_name_normalise(in_place, strlen(rows[i][0]), in_place),
				 length);
		assert_memory_equal(in_place, out, length);
		assert_int_equal(subsume_name_normalise(out, length, out), length);
	}
}

/* What has been normalised is found by its name alone (subsume_builder_method). */
TEST(normalising_twice_changes_nothing)
{
	static const char *const tokens[] = {"$$Lambda",
					     "$Proxy",
					     "jdk.proxy",
					     "$",
					     "1",
					     "23",
					     "/",
					     "/0x0123456789abcdef",
					     ".",
					     ".0x0123456789abcdef",
					     "+",
					     "0x",
					     "GeneratedMethodAccessor",
					     "a",
					     "(",
					     ";"};
	struct random r;

	random_seed(&r, 9);
	for (unsigned i = 0; i < 200000; i++) {
		char name[256] = "", again[256];
		size_t length, same;

		for (unsigned k = random_below(&r, 8); k > 0; k--)
			(void)strcat(name, tokens[random_below(&r, 16)]);
		length = subsume_name_normalise(name, strlen(name), name);
		same = subsume_name_normalise(name, length, again);
		assert_int_equal(same, length);
		assert_memory_equal(again, name, length);
	}
}

TEST(reflection_and_lambda_forms_are_always_subsumed)
{
	static const struct {
		const char *name;
		bool always;
	} rows[] = {
	    {"java.lang.reflect.Method.invoke", true},
	    {"java/lang/reflect/Method.invoke(Ljava/lang/Object;[Ljava/lang/Object;)", true},
	    {"java.lang.reflect.Method.invokeAll", false},
	    {"java.lang.reflect.Method.getName", false},
	    {"java.lang.reflect.Constructor.newInstance", false},
	    {"jdk.internal.reflect.DelegatingMethodAccessorImpl.invoke", true},
	    {"jdk.internal.reflect.NativeMethodAccessorImpl.invoke0", true},
	    {"jdk.internal.reflect.DirectMethodHandleAccessor.invoke", true},
	    {"sun.reflect.GeneratedMethodAccessor.invoke", true},
	    {"jdk.internal.reflect.Reflection.getCallerClass", false},
	    {"java.lang.invoke.LambdaForm$MH.invokeExact_MT", true},
	    {"java.lang.invoke.LambdaForm$DMH.invokeStatic", true},
	    {"java.lang.invoke.DirectMethodHandle$Holder.invokeStatic", true},
	    {"java.lang.invoke.MethodHandles$Lookup.findVirtual", false},
	    {"java.security.AccessController.doPrivileged(Ljava/security/PrivilegedAction;)", true},
	    {"java.security.AccessController.executePrivileged", true},
	    {"java.security.AccessController.getContext", false},
	    {"org.example.Method.invoke", false},
	    {"", false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(subsume_name_always_subsumed(rows[i].name, strlen(rows[i].name)),
				 rows[i].always);
}

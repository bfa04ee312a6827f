import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * An agent of the tests, which adds known wasteful work to a method: a call of Wasted at its beginning.
 *
 * Argument: WORK:CLASS.METHOD, such as fill:org.h2.table.TableFilter.next.
 */
public final class Injector {
    private Injector() {}

    public static void premain(String argument, Instrumentation instrumentation) {
        String work = argument.substring(0, argument.indexOf(':'));
        String owner = argument.substring(argument.indexOf(':') + 1, argument.lastIndexOf('.')).replace('.', '/');
        String name = argument.substring(argument.lastIndexOf('.') + 1);
        Wasted.look();
        instrumentation.addTransformer(new ClassFileTransformer() {
            @Override
            public byte[] transform(ClassLoader loader, String of, Class<?> before, ProtectionDomain domain, byte[] bytes) {
                return owner.equals(of) ? changed(bytes, work, name) : null;
            }
        });
    }

    private static byte[] changed(byte[] bytes, String work, String name) {
        ClassReader reader = new ClassReader(bytes);
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        reader.accept(new ClassVisitor(Opcodes.ASM9, writer) {
            @Override
            public MethodVisitor visitMethod(int access, String method, String descriptor, String signature, String[] thrown) {
                MethodVisitor to = super.visitMethod(access, method, descriptor, signature, thrown);
                boolean code = (access & (Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE)) == 0;
                return !code || !method.equals(name) ? to : new MethodVisitor(Opcodes.ASM9, to) {
                    @Override
                    public void visitCode() {
                        super.visitCode();
                        visitMethodInsn(Opcodes.INVOKESTATIC, "Wasted", work, "()V", false);
                        System.err.println("injected " + method);
                    }
                };
            }
        }, 0);
        return writer.toByteArray();
    }
}

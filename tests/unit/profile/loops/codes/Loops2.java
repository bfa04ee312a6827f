import java.util.*;
public class Loops2 {
  static int[] a = new int[4096], b = new int[4096]; static long[] la = new long[4096]; static double[] da = new double[4096]; static int staticCount;
  static int indexOf(int[] a, int x) { for (int i = 0; i < a.length; i++) if (a[i] == x) return i; return -1; }
  static int mathMax(int[] a) { int m = Integer.MIN_VALUE; for (int i = 0; i < a.length; i++) m = Math.max(m, a[i]); return m; }
  static double mathMin(double[] a) { double m = 1e9; for (int i = 0; i < a.length; i++) m = Math.min(m, a[i]); return m; }
  static int lastCmov(int[] a) { int l = -1; for (int i = 0; i < a.length; i++) { l = (a[i] & 1) == 0 ? i : l; } return l; }
  static int two(int[] a, int[] b) { int s = 0; for (int i = 0; i < a.length; i++) s += a[i]; for (int j = 0; j < b.length; j++) b[j] = s ^ j; return s; }
  static int three(int[] a, int[] b, int x) { int s = 0; for (int i = 0; i < a.length; i++) if (a[i] == x) { s = i; break; } for (int j = 0; j < b.length; j++) s += b[j]; for (int k = 0; k < b.length; k += 2) b[k] = s; return s; }
  static int inlinedTwice(int[] a, int[] b, int x) { return indexOf(a, x) + indexOf(b, x + 1); }
  static int contains(ArrayList<Integer> l, Integer x) { int i = 0; for (Integer y : l) { if (y == x) return i; i++; } return -1; }
  static int hash(byte[] a) { int h = 0; for (byte v : a) h = 31 * h + v; return h; }
  static void copyArr(int[][] a, int[] b) { for (int i = 0; i < a.length; i++) System.arraycopy(b, 0, a[i], 0, b.length); }
  static double trig(double[] d) { double s = 0; for (int i = 0; i < d.length; i++) s += Math.sin(d[i]); return s; }
  static int collatz(long n) { int c = 0; while (n != 1) { n = (n & 1) == 0 ? n >> 1 : 3 * n + 1; c++; } return c; }
  static int lcg(int n) { int s = 1; for (int i = 0; i < n; i++) s = s * 1103515245 + 12345; return s; }
  static long fibo(int n) { long x = 0, y = 1; for (int i = 0; i < n; i++) { long t = x + y; x = y; y = t; } return x; }
  static int tree(T t, int key) { while (t != null) { if (key == t.key) return t.val; t = key < t.key ? t.l : t.r; } return -1; }
  static final class T { T l, r; int key, val; }
  static boolean any(boolean[] f) { boolean r = false; for (int i = 0; i < f.length; i++) r |= f[i]; return r; }
  static int sw(byte[] c) { int n = 0; for (int i = 0; i < c.length; i++) { switch (c[i]) { case 1: n += 3; break; case 2: n ^= i; break; case 7: n--; break; case 5: n *= 3; break; default: } } return n; }
  static int conc(Object[] o) { int n = 0; for (int i = 0; i < o.length; i++) { if (o[i] instanceof Integer) n++; } return n; }
  public static void main(String[] x) {
    Random r = new Random(5); for (int i = 0; i < a.length; i++) { a[i] = r.nextInt(100000); b[i] = r.nextInt(1000); da[i] = r.nextDouble(); }
    ArrayList<Integer> l = new ArrayList<>(); for (int i = 0; i < 500; i++) l.add(1000 + i); byte[] by = new byte[4000]; r.nextBytes(by); for (int i = 0; i < by.length; i++) by[i] &= 7;
    int[][] aa = new int[50][100]; int[] src = new int[100]; boolean[] f = new boolean[1000]; T root = null; T[] ts = new T[200]; for (int i = 0; i < 200; i++) { T t = new T(); t.key = r.nextInt(1000); T p = root; if (root == null) root = t; else for (;;) { if (t.key < p.key) { if (p.l == null) { p.l = t; break; } p = p.l; } else { if (p.r == null) { p.r = t; break; } p = p.r; } } }
    Object[] os = new Object[1000]; for (int i = 0; i < 1000; i++) os[i] = r.nextBoolean() ? (Object) i : "x";
    long end = System.nanoTime() + 4_000_000_000L; double t = 0;
    for (int i = 0; System.nanoTime() < end; i++) {
      t += mathMax(a); t += mathMin(da); t += lastCmov(a); t += two(a, b); t += three(a, b, a[i & 4095]); t += inlinedTwice(a, b, a[i & 4095]); t += contains(l, l.get(i % 500)); t += hash(by); copyArr(aa, src); t += trig(da); t += collatz(i + 1); t += lcg(1000); t += fibo(500); t += tree(root, i % 1000); t += any(f) ? 1 : 0; t += sw(by); t += conc(os);
    }
    System.out.println(t);
  }
}

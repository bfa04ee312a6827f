import java.util.*;
public class Loops {
  static int[] a = new int[4096]; static int[] out = new int[4096]; static byte[] bytes = new byte[4096];
  static double[] d = new double[4096];
  static final class Node { Node next; int key; Object value; Node(Node n, int k){next=n;key=k;} }
  static Node head; static int staticCount; static volatile boolean flag = true; static Object[] objs = new Object[4096];
  static int indexOf(int[] a, int x) { for (int i = 0; i < a.length; i++) if (a[i] == x) return i; return -1; }
  static int sum(int[] a) { int s = 0; for (int i = 0; i < a.length; i++) s += a[i]; return s; }
  static double dsum(double[] a) { double s = 0; for (int i = 0; i < a.length; i++) s += a[i]; return s; }
  static void fill(int[] a, int v) { for (int i = 0; i < a.length; i++) a[i] = v + i; }
  static void copyEvery(int[] a, int[] b) { for (int i = 0; i < a.length; i++) b[i] = a[i] * 3; }
  static int rareCount(int[] a, int m) { int c = 0; for (int i = 0; i < a.length; i++) if ((a[i] & m) == 0) { c += a[i] ^ i; } return c; }
  static void rareStore(int[] a, int[] b, int m) { for (int i = 0; i < a.length; i++) if ((a[i] & m) == 0) b[i] = i; }
  static void rareStatic(int[] a, int m) { for (int i = 0; i < a.length; i++) if ((a[i] & m) == 0) staticCount++; }
  static int max(int[] a) { int m = a[0]; for (int i = 1; i < a.length; i++) if (a[i] > m) m = a[i]; return m; }
  static Node find(Node n, int key) { for (; n != null; n = n.next) if (n.key == key) return n; return null; }
  static int length(Node n) { int c = 0; while (n != null) { c++; n = n.next; } return c; }
  static int keySum(Node n) { int c = 0; while (n != null) { c += n.key; n = n.next; } return c; }
  static boolean contains(List<Integer> l, Integer x) { for (Integer y : l) if (y.equals(x)) return true; return false; }
  static void zero(int[] a, int m) { int t = 0; for (int i = 0; i < a.length; i++) { if (a[i] == m) { t = i; } } if (t == -5) staticCount++; }
  static int nested(int[] a, int[] b) { int hits = 0; for (int i = 0; i < a.length; i++) { for (int j = 0; j < b.length; j++) if (a[i] == b[j]) { hits++; break; } } return hits; }
  static int nested2(int[] a, int[] b) { int hits = 0; for (int i = 0; i < a.length; i++) { if (indexOf(b, a[i]) >= 0) hits++; } return hits; }
  static void spin() { while (flag) { } }
  static void spinPause() { while (flag) { Thread.onSpinWait(); } }
  static int whileEvery2(int[] a) { int i = 0, s = 0; while (i < a.length) { s ^= a[i]; i += 2; } return s; }
  static int down(byte[] a) { int s = 7; for (int i = a.length - 1; i >= 0; i--) s = s * 31 + a[i]; return s; }
  static void objStore(Object[] a, Object o) { for (int i = 0; i < a.length; i++) a[i] = o; }
  static int objIndex(Object[] a, Object o) { for (int i = 0; i < a.length; i++) if (o.equals(a[i])) return i; return -1; }
  static int calls(int[] a) { int n = 0; for (int i = 0; i < a.length; i++) { if (a[i] > 1000000) n += other(i); } return n; }
  static int other(int i) { return System.identityHashCode(objs) + i; }
  static Object lastNew; static int allocs(int n) { int s = 0; for (int i = 0; i < n; i++) { Node x = new Node(null, i); if ((i & 1023) == 0) lastNew = x; s += x.key; } return s; }
  static Node build(int n) { Node h = null; for (int i = 0; i < n; i++) h = new Node(h, i); return h; }
  static Node get(Node n, int index) { for (int i = 0; i < index; i++) n = n.next; return n; }
  static int bsearch(int[] a, int key) { int lo = 0, hi = a.length - 1; while (lo <= hi) { int mid = (lo + hi) >>> 1; if (a[mid] < key) lo = mid + 1; else if (a[mid] > key) hi = mid - 1; else return mid; } return -(lo + 1); }
  static long doWhile(int[] a) { long s = 0; int i = 0; do { s += a[i] * 5L; i++; } while (i < a.length); return s; }
  static int sentinel(int[] a, int x) { int i = 0; while (a[i] != x) i++; return i; }
  static int matrix(int[][] m) { int s = 0; for (int i = 0; i < m.length; i++) for (int j = 0; j < m[i].length; j++) s += m[i][j]; return s; }
  static int three(int[] a, int n) { int s = 0; for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) s += a[(i ^ j ^ k) & 4095]; return s; }
  static int osr(int[] a) { int s = 0; for (int r = 0; r < 3000; r++) for (int i = 0; i < a.length; i++) s += a[i] ^ r; return s; }
  static boolean tryCatch(Object[] a) { boolean any = false; for (int i = 0; i < a.length; i++) { try { if (a[i].hashCode() == 42) any = true; } catch (NullPointerException e) { } } return any; }
  static int longLoop(int[] a, long n) { int s = 0; for (long i = 0; i < n; i++) s += a[(int) i]; return s; }
  static int strlen(CharSequence s) { int c = 0; for (int i = 0; i < s.length(); i++) if (s.charAt(i) == 'q') c++; return c; }
  static Object mapGet(HashMap<Integer,Object> m, int n) { Object r = null; for (int i = 0; i < n; i++) { Object o = m.get(i & 255); if (o == lastNew) return o; } return r; }
  public static void main(String[] x) throws Exception {
    for (int i = 0; i < a.length; i++) { a[i] = i * 7919 & 0xfffff; bytes[i] = (byte) i; d[i] = i; objs[i] = "s" + i; }
    head = build(1000); List<Integer> list = new ArrayList<>(); for (int i = 0; i < 500; i++) list.add(i);
    int[][] m = new int[64][64]; HashMap<Integer,Object> map = new HashMap<>(); for (int i = 0; i < 256; i++) map.put(i, "x" + i);
    List<Integer> linked = new LinkedList<>(list);
    String str = "hello world".repeat(50);
    new Thread(() -> { while (true) { try { Thread.sleep(20); } catch (Exception e) {} flag = false; } }) {{ setDaemon(true); }}.start();
    long t = 0; int[] small = Arrays.copyOf(a, 300);
    long end = System.nanoTime() + 6_000_000_000L;
    osr(a);
    for (int r = 0; r < 20000 && System.nanoTime() < end; r++) {
      t += indexOf(a, a[(r * 37) % 4096]); t += sum(a); t += dsum(d); fill(out, r); copyEvery(a, out); t += rareCount(a, 63); rareStore(a, out, 63); rareStatic(a, 63);
      t += max(a); t += find(head, r % 1100) == null ? 0 : 1; t += length(head); t += keySum(head); t += contains(list, r % 600) ? 1 : 0; zero(a, r);
      if (r % 64 == 0) { t += nested(small, small); t += nested2(small, small); t += three(a, 40); }
      if (r % 16 == 0) { flag = r < 3000; spin(); flag = r < 3000; spinPause(); }
      t += whileEvery2(a); t += down(bytes); objStore(objs, objs[r % 4096]); t += objIndex(objs, objs[(r * 31) % 4096]); t += calls(a); t += allocs(500); build(50);
      t += get(head, r % 900).key; t += bsearch(a, r); t += doWhile(a); t += sentinel(a, a[r % 4096]); t += matrix(m); t += tryCatch(objs) ? 1 : 0; t += longLoop(a, 3000);
      t += strlen(str); t += contains(linked, r % 600) ? 1 : 0; t += mapGet(map, 600) == null ? 1 : 0;
      if (r % 500 == 3) { out[5] = r; }
    }
    System.out.println(t);
  }
}

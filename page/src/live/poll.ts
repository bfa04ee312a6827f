/* Something that is asked for again and again, as long as somebody looks. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

export interface Polled<T> {
  value: T | null;
  error: string;
  again: () => void;
}

export function usePolled<T>(question: () => Promise<T>, every: number, keys: readonly unknown[]): Polled<T> {
  const [value, setValue] = useState<T | null>(null);
  const [error, setError] = useState("");
  const asking = useRef(false);
  const again = useCallback(async () => {
    if (asking.current) return;
    asking.current = true;
    try {
      setValue(await question());
      setError("");
    } catch (e) {
      setError(e instanceof Error ? e.message : String(e));
    }
    asking.current = false;
  }, keys);

  useEffect(() => {
    void again();
    const timer = setInterval(() => {
      if (!document.hidden) void again();
    }, every);

    return () => clearInterval(timer);
  }, [again, every]);
  return { value, error, again };
}

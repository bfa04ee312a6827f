/* The page around the views: what window it is, tabs, search, keys. */
import { useEffect, useRef, useState } from "preact/hooks";

import { count, time } from "./data/text.ts";
import type { Model, ViewProps } from "./model.ts";
import { linkTo, useAddress, type Address } from "./state.ts";
import { Change } from "./views/change.tsx";
import { FlameView } from "./views/flame.tsx";
import { Loops } from "./views/loops.tsx";
import { NumaView } from "./views/numa.tsx";
import { Objects } from "./views/objects.tsx";
import { Pairs } from "./views/pairs.tsx";
import { Quality } from "./views/quality.tsx";
import { SubsumingView } from "./views/subsuming.tsx";

const VIEWS: { name: string; title: string; view: (props: ViewProps) => preact.JSX.Element }[] = [
  { name: "change", title: "What to change", view: Change },
  { name: "pairs", title: "Pairs", view: Pairs },
  { name: "objects", title: "Fields and objects", view: Objects },
  { name: "flame", title: "Flame graph", view: FlameView },
  { name: "loops", title: "Loops", view: Loops },
  { name: "numa", title: "NUMA", view: NumaView },
  { name: "subsuming", title: "Subsuming methods", view: SubsumingView },
  { name: "quality", title: "Quality", view: Quality },
];

const KEYS: [string, string][] = [
  ["/", "search"],
  ["1 to 8", "views"],
  ["j, k", "the next row, the one before"],
  ["Enter", "opens or closes a row"],
  ["Esc", "closes a row, leaves a zoom or the search"],
  ["t", "light, dark, as the system has it"],
  ["?", "this"],
];

const THEMES = ["", "light", "dark"];

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName);
}

/* Puts the focus on the next row of the view, or the one before. */
function stepRow(step: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>("main .row-head")];
  const at = rows.indexOf(document.activeElement as HTMLElement);

  rows[at < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(Math.max(at + step, 0), rows.length - 1)]?.focus();
}

/* What Esc leaves first. */
function leave(address: Address): Partial<Address> | null {
  if (address.open) return { open: "" };
  if (address.zoom) return { zoom: "" };
  if (address.focus) return { focus: "", shape: "callees" };
  return address.q ? { q: "" } : null;
}

function useKeys(address: Address, go: ViewProps["go"], search: () => void, help: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || (typing(event.target) && event.key !== "Escape")) return;
      const view = VIEWS[Number(event.key) - 1];

      if (event.key === "/") search();
      else if (event.key === "?") help();
      else if (event.key === "j") stepRow(1);
      else if (event.key === "k") stepRow(-1);
      else if (event.key === "t") go({ theme: THEMES[(THEMES.indexOf(address.theme) + 1) % THEMES.length]! }, true);
      else if (view) go({ view: view.name, q: "", open: "", zoom: "" });
      else if (event.key === "Escape") {
        const change = leave(address);

        (event.target as HTMLElement).blur?.();
        if (change) go(change);
      } else return;
      event.preventDefault();
    };

    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
}

function Header({ model, address, go, search }: ViewProps & { search: preact.RefObject<HTMLInputElement | null> }) {
  const { window: w } = model.report;
  const what = w.merged
    ? `${count(w.merged.windows)} windows of ${count(w.merged.processes)} processes`
    : `pid ${w.pid}`;

  return (
    <header>
      <div class="top">
        <h1>{w.app || "a JVM without a name"}</h1>
        <p class="quiet">
          {what} · JDK {w.jdk.split("+")[0]}, {w.gc} · {time(w.start)}, {Math.round(w.duration_s)} s
          {w.state !== "done" && ` · ${w.state.replaceAll("_", " ")}${w.reason ? `: ${w.reason}` : ""}`}
        </p>
        <input
          ref={search}
          type="search"
          aria-label="Search class, method, field"
          placeholder="Search class, method, field ( / )"
          value={address.q}
          onInput={(e) => go({ q: e.currentTarget.value, open: "" }, true)}
        />
        <button type="button" aria-label="Light or dark" onClick={() => go({ theme: THEMES[(THEMES.indexOf(address.theme) + 1) % THEMES.length]! }, true)}>
          ◐
        </button>
      </div>
      <nav aria-label="Views">
        {VIEWS.map((view) => (
          <a key={view.name} href={linkTo(address, { view: view.name })} aria-current={view.name === address.view ? "page" : undefined}>
            {view.title}
          </a>
        ))}
      </nav>
    </header>
  );
}

export function App({ model }: { model: Model }) {
  const [address, go] = useAddress();
  const search = useRef<HTMLInputElement>(null);
  const [help, setHelp] = useState(false);
  const view = VIEWS.find((v) => v.name === address.view) ?? VIEWS[0]!;
  const View = view.view;

  useKeys(
    address,
    go,
    () => search.current?.focus(),
    () => setHelp(!help),
  );
  useEffect(() => {
    if (address.theme) document.documentElement.dataset.theme = address.theme;
    else delete document.documentElement.dataset.theme;
  }, [address.theme]);
  useEffect(() => {
    document.title = `${model.report.window.app} ${model.report.window.id}: ${view.title}`;
  }, [view]);
  useEffect(() => {
    if (!address.open) scrollTo(0, 0);
  }, [view]);
  return (
    <>
      <Header model={model} address={{ ...address, view: view.name }} go={go} search={search} />
      <main>
        {help && (
          <dl class="card facts-list keys">
            {KEYS.map(([key, what]) => (
              <>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{what}</dd>
              </>
            ))}
          </dl>
        )}
        <View model={model} address={address} go={go} />
      </main>
    </>
  );
}

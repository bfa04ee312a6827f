/* The page around the views: what window it is, tabs, search, keys. */
import { Fragment } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import type { Page, Shown, View } from "./page.ts";
import { CopyButton } from "./parts/small.tsx";
import { linkTo, useAddress, type Address } from "./state.ts";

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

/* Puts the view's tab into sight where there is no room for all, without moving the page. */
function showTab(): void {
  const tab = document.querySelector<HTMLElement>("nav [aria-current]");

  if (tab?.parentElement) tab.parentElement.scrollLeft = tab.offsetLeft - (tab.parentElement.clientWidth - tab.clientWidth) / 2;
}

/* What Esc leaves first. */
function leave(address: Address): Partial<Address> | null {
  if (address.open) return { open: "" };
  if (address.zoom) return { zoom: "" };
  if (address.focus) return { focus: "", shape: "callees" };
  return address.q ? { q: "" } : null;
}

function useKeys(page: Page, { address, go }: Shown, search: () => void, help: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || (typing(event.target) && event.key !== "Escape")) return;
      const view = page.views[Number(event.key) - 1];

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

/* A report that `jxperfctl ui` shows has the live page to go back to. */
function served(): boolean {
  return location.protocol === "http:" && !location.pathname.endsWith("/");
}

function Header({ page, view, address, go, search }: Shown & { page: Page; view: View; search: preact.RefObject<HTMLInputElement | null> }) {
  return (
    <header>
      <div class="top">
        <h1>{page.name}</h1>
        {view.command && <CopyButton text={view.command}>Copy command</CopyButton>}
        {served() && <a href="./">All JVMs and windows</a>}
        <p class="quiet">{page.facts}</p>
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
        {page.views.map((v) => (
          <a key={v.name} href={linkTo(address, { view: v.name })} aria-current={v === view ? "page" : undefined}>
            {v.title}
          </a>
        ))}
      </nav>
    </header>
  );
}

export function App({ page }: { page: Page }) {
  const [address, go] = useAddress();
  const search = useRef<HTMLInputElement>(null);
  const [help, setHelp] = useState(false);
  const view = page.views.find((v) => v.name === address.view) ?? page.views[0]!;
  const Draw = view.draw;

  useKeys(
    page,
    { address, go },
    () => search.current?.focus(),
    () => setHelp(!help),
  );
  /* Before anything is drawn: a canvas asks for the colours. */
  useMemo(() => {
    if (address.theme) document.documentElement.dataset.theme = address.theme;
    else delete document.documentElement.dataset.theme;
  }, [address.theme]);
  useEffect(() => {
    document.title = `${page.title}: ${view.title}`;
    showTab();
    if (!address.open) scrollTo(0, 0);
  }, [view]);
  return (
    <>
      <Header page={page} view={view} address={address} go={go} search={search} />
      <main>
        {help && (
          <dl class="card facts-list keys">
            {KEYS.map(([key, what]) => (
              <Fragment key={key}>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{what}</dd>
              </Fragment>
            ))}
          </dl>
        )}
        <Draw key={view.name} address={{ ...address, view: view.name }} go={go} />
      </main>
    </>
  );
}

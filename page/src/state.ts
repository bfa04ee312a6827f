/*
 * What is looked at: the fragment of the address, and nothing else. Whoever has the address sees the same; back goes
 * back.
 */
import { useEffect, useState } from "preact/hooks";

const DEFAULTS = {
  view: "change",
  q: "", // what is searched
  kind: "",
  region: "",
  package: "",
  order: "cpu",
  few: "", // rows with little evidence, too
  open: "", // the row that is open
  cost: "waste", // of the flame graph
  shape: "callees",
  focus: "", // the method of a sandwich: its number
  zoom: "", // the frame that fills the graph: its number
  theme: "", // as the system has it
};

export type Address = typeof DEFAULTS;

function isName(name: string): name is keyof Address {
  return Object.hasOwn(DEFAULTS, name);
}

export function parseAddress(fragment: string): Address {
  const address = { ...DEFAULTS };

  new URLSearchParams(fragment.replace(/^#/, "")).forEach((value, name) => {
    if (isName(name)) address[name] = value;
  });
  return address;
}

export function formatAddress(address: Address): string {
  const parameters = new URLSearchParams();

  for (const name of Object.keys(DEFAULTS)) if (isName(name) && address[name] !== DEFAULTS[name]) parameters.set(name, address[name]);
  return `#${parameters.toString()}`;
}

/* The address with some of it changed, as a link has it. Another view starts at its own beginning. */
export function linkTo(address: Address, change: Partial<Address>): string {
  const start = change.view && change.view !== address.view ? { ...DEFAULTS, theme: address.theme } : address;

  return formatAddress({ ...start, ...change });
}

/* What is searched, as names are compared with it. */
export function queryOf(address: Address): string {
  return address.q.trim().toLowerCase();
}

export type Go = (change: Partial<Address>, replace?: boolean) => void;

/* What is typed replaces the address; what is clicked is a step that back takes again. */
export function useAddress(): [Address, Go] {
  const [address, setAddress] = useState(() => parseAddress(location.hash));

  useEffect(() => {
    const read = () => setAddress(parseAddress(location.hash));

    addEventListener("hashchange", read);
    addEventListener("popstate", read);
    return () => {
      removeEventListener("hashchange", read);
      removeEventListener("popstate", read);
    };
  }, []);
  const go: Go = (change, replace = false) => {
    const next = linkTo(parseAddress(location.hash), change);

    if (replace) history.replaceState(null, "", next);
    else history.pushState(null, "", next);
    setAddress(parseAddress(next));
  };

  return [address, go];
}

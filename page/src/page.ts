/* What the shell shows: a name, some facts, and views. A kind of document makes one of itself (pages/). */
import type { JSX } from "preact";

import type { Address, Go } from "./state.ts";

export interface Shown {
  address: Address;
  go: Go;
}

export interface View {
  name: string;
  title: string;
  draw: (shown: Shown) => JSX.Element;
  command?: string; // that says the same at a terminal
}

export interface Page {
  name: string;
  facts: string;
  title: string; // of the browser's tab
  views: View[];
}

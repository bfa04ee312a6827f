/* Subsuming methods of a profile from elsewhere. */
import { contextsOf, treeSamples, type Tree } from "../data/tree.ts";
import type { SubsumingMethods } from "../data/report.ts";
import { count } from "../data/text.ts";
import type { Page } from "../page.ts";
import { FlameControls, FlameGraph, shapeOf } from "../parts/flame.tsx";
import { SubsumingView } from "../views/subsuming.tsx";

export interface ProfileDocument {
  schema: number;
  subsuming: SubsumingMethods & { remark?: string };
  tree: Tree;
}

export function profilePage(document: ProfileDocument): Page {
  const { subsuming } = document;
  const contexts = contextsOf(document.tree);
  const samples = treeSamples(document.tree, 0);

  return {
    name: "A profile",
    facts: `${count(subsuming.total)} ${subsuming.unit}${subsuming.remark ? ` · ${subsuming.remark}` : ""}`,
    title: "Subsuming methods",
    views: [
      { name: "subsuming", title: "Subsuming methods", draw: (shown) => <SubsumingView subsuming={subsuming} {...shown} /> },
      {
        name: "flame",
        title: "Flame graph",
        draw: ({ address, go }) => (
          <>
            <h2 class="unseen">Flame graph</h2>
            <FlameControls contexts={contexts} address={address} go={go} />
            <FlameGraph
              contexts={contexts}
              samples={samples}
              ink="none"
              title={`Cost in ${subsuming.unit}`}
              unit={`of all ${subsuming.unit}`}
              shape={shapeOf(address)}
              address={address}
              go={go}
            />
          </>
        ),
      },
    ],
  };
}

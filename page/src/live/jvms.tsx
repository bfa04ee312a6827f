/* The JVMs of this machine, running windows with what they found so far, and how one is started. */
import { useState } from "preact/hooks";

import { count, shortClass } from "../data/text.ts";
import type { Shown } from "../page.ts";
import { Choice, Empty } from "../parts/small.tsx";
import { api, type Jvm, type Question, type WindowInfo } from "./api.ts";
import { usePolled } from "./poll.ts";
import { Fold } from "../parts/fold.tsx";
import { queryOf } from "../state.ts";

const LOOK_MS = 2000;
const FINDINGS_MS = 4000;
const FINDINGS = 3;

const DURATIONS: [string, string][] = [
  ["10s", "10 seconds"],
  ["30s", "30 seconds"],
  ["2m", "2 minutes"],
];
const KINDS: [string, string][] = [
  ["", "the usual: pairs, objects, CPU time"],
  ["dead-store,silent-store,silent-load,objects,cpu,loops", "loops, too"],
  ["dead-store,silent-store,silent-load", "pairs alone"],
];
const BUDGETS = ["1%", "2%", "5%"];

function Running({ window: w, onEnd }: { window: WindowInfo; onEnd: () => void }) {
  const [said, say] = useState("");
  const findings = usePolled(() => api.findings(w.id), FINDINGS_MS, [w.id]);
  const problems = (findings.value?.problems ?? []).slice(0, FINDINGS);
  const stop = async () => {
    try {
      await api.detach(w.pid);
      onEnd();
    } catch (e) {
      say(String(e instanceof Error ? e.message : e));
    }
  };

  return (
    <article class="card running">
      <h3>
        {w.app} <span class="quiet">pid {w.pid}</span>
      </h3>
      <progress max={w.duration_s} value={Math.min(w.elapsed_s, w.duration_s)} aria-label={`${w.id}: ${Math.round(w.elapsed_s)} of ${w.duration_s} s`} />
      <p class="quiet small">
        {Math.round(w.elapsed_s)} of {Math.round(w.duration_s)} s · {count(w.samples)} sampled accesses, {count(w.pairs)} pairs{" "}
        <button type="button" class="plain" onClick={stop}>
          End it now
        </button>{" "}
        {said}
      </p>
      {problems.length === 0 ? (
        <p class="quiet small">Nothing was found so far.</p>
      ) : (
        <ol class="small">
          {problems.map((problem, i) => (
            <li key={i}>{problem.sentence}</li>
          ))}
        </ol>
      )}
    </article>
  );
}

function Start({ jvm, onStart }: { jvm: Jvm; onStart: () => void }) {
  const [question, ask] = useState<Question>({ pid: jvm.pid, duration: "30s", kinds: "", budget: "1%" });
  const [said, say] = useState("");
  const [starting, setStarting] = useState(false);
  const start = async () => {
    setStarting(true);
    say("");
    try {
      await api.attach(question);
      onStart();
    } catch (e) {
      say(e instanceof Error ? e.message : String(e));
    }
    setStarting(false);
  };

  return (
    <div class="row-body">
      <div class="controls" role="group" aria-label="How long">
        {DURATIONS.map(([value, words]) => (
          <Choice key={value} pressed={question.duration === value} onPress={() => ask({ ...question, duration: value })}>
            {words}
          </Choice>
        ))}
      </div>
      <div class="controls" role="group" aria-label="What for">
        {KINDS.map(([value, words]) => (
          <Choice key={value} pressed={question.kinds === value} onPress={() => ask({ ...question, kinds: value })}>
            {words}
          </Choice>
        ))}
      </div>
      <div class="controls" role="group" aria-label="Budget">
        {BUDGETS.map((value) => (
          <Choice key={value} pressed={question.budget === value} onPress={() => ask({ ...question, budget: value })}>
            {value} of its CPU time
          </Choice>
        ))}
      </div>
      <p class="quiet small">
        It takes {question.budget} of the JVM's CPU time at most, beside a fraction of a second to attach. The agent stays loaded, and does
        nothing between windows.
      </p>
      <p>
        <button type="button" onClick={start} disabled={starting}>
          {starting ? "Attaching" : "Start a window"}
        </button>{" "}
        <span role="status">{said}</span>
      </p>
    </div>
  );
}

function JvmRow({ jvm, open, onToggle, onStart }: { jvm: Jvm; open: boolean; onToggle: () => void; onStart: () => void }) {
  return (
    <Fold open={open} onToggle={onToggle}
      head={
        <>
          <span class="what">
            <code title={jvm.name}>{jvm.app || shortClass(jvm.name) || "a JVM without a name"}</code>
            <span class="quiet small">
              pid {jvm.pid}, {jvm.user}
              {jvm.container && `, ${jvm.container}`}
              {jvm.schedule && `, schedule ${jvm.schedule}`}
            </span>
          </span>
          <span>
            {jvm.jdk && `JDK ${jvm.jdk.split("+")[0]}`}
            {jvm.gc && `, ${jvm.gc}`}
          </span>
          <span class="counts">{jvm.state}</span>
        </>
      }
    >
      {open && <Start jvm={jvm} onStart={onStart} />}
    </Fold>
  );
}

export function Jvms({ address, go }: Shown) {
  const jvms = usePolled(api.jvms, LOOK_MS, []);
  const windows = usePolled(api.windows, LOOK_MS, []);
  const running = (windows.value ?? []).filter((w) => w.state === "running");
  const query = queryOf(address);
  const shown = (jvms.value ?? []).filter((j) => !query || `${j.name} ${j.app} ${j.pid} ${j.user}`.toLowerCase().includes(query));
  const look = () => {
    jvms.again();
    windows.again();
  };

  return (
    <>
      {running.length > 0 && <h2>Running now</h2>}
      {running.map((w) => (
        <Running key={w.id} window={w} onEnd={look} />
      ))}
      <h2>JVMs of this machine</h2>
      {jvms.error && <Empty>{jvms.error}</Empty>}
      {jvms.value && shown.length === 0 && <Empty>{query ? `No JVM has "${address.q}" in its name.` : "No JVM runs here that you may look at."}</Empty>}
      {shown.map((jvm) => {
        const id = `jvm-${jvm.pid}`;

        return (
          <JvmRow
            key={id}
            jvm={jvm}
            open={address.open === id}
            onToggle={() => go({ open: address.open === id ? "" : id })}
            onStart={() => {
              go({ open: "" });
              look();
            }}
          />
        );
      })}
    </>
  );
}

import { objectBytesMax } from '../../../limits/objects.ts';
import type { Schema } from '../schema-check.ts';
import { rootPlace, SchemaGraph } from '../structural.ts';
import type { Members } from './default-fill.ts';
import { DefaultFills } from './default-fills.ts';
import { defaultProblems, type PartCompilers } from './default-problems.ts';

/**
 * Fills in the defaults of a type's schema. Returns the same reference if nothing is missing, and undefined if the
 * defaults would add more than `objectBytesMax` bytes.
 */
export type FillDefaults = (members: Members) => Members | undefined;

/** The function for a schema without defaults, which returns its argument. */
export const noDefaults: FillDefaults = (members) => members;

export type CompiledDefaults =
  | { readonly ok: true; readonly fillDefaults: FillDefaults }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Compiles the defaults of a schema to a function: `noDefaults` for a schema without defaults. */
export function compileDefaults(schema: Schema, parts: PartCompilers): CompiledDefaults {
  const graph = new SchemaGraph(schema);
  const fills = new DefaultFills(graph);
  const problems = defaultProblems(graph, fills, parts);
  if (problems.length > 0) return { ok: false, problems };
  const fill = fills.fillOf(rootPlace(graph));
  if (fill === undefined) return { ok: true, fillDefaults: noDefaults };
  return {
    ok: true,
    fillDefaults: (members) => {
      const budget = { left: objectBytesMax };
      const filled = fill(members, budget);
      return budget.left < 0 ? undefined : (filled as Members);
    },
  };
}

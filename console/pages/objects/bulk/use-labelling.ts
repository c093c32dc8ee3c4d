import { computed, shallowRef, watch, type ComputedRef, type Ref } from 'vue';

import type { ServedType } from '../../../server/served-types.ts';
import { useServer } from '../../../server/use-server.ts';
import { useBulkRun, type BulkRun, type Chosen, type Outcome } from './bulk-run.ts';
import { labelPatchOf, type LabelChange } from './label-change.ts';
import { planLabels, writeLabels, type LabelPatch, type PlannedLabels } from './labelling.ts';

type Failed = Outcome<unknown> & { readonly ok: false };
/** An object whose labels would change. */
export type PlannedObject = { readonly object: Chosen; readonly plan: PlannedLabels };

export type Labelling = {
  readonly changes: Ref<readonly LabelChange[]>;
  readonly patch: ComputedRef<LabelPatch | undefined>;
  /** The results of the dry runs. An edit of the changes discards the results. */
  readonly checked: ComputedRef<
    | { readonly planned: readonly PlannedObject[]; readonly unchanged: number; readonly failed: readonly Failed[] }
    | undefined
  >;
  readonly checking: BulkRun<PlannedLabels>;
  readonly writing: BulkRun<undefined>;
  readonly check: () => Promise<void>;
  /** Writes the planned labels. Resolves with the number of written objects and the failures. */
  readonly write: () => Promise<{ readonly done: number; readonly failed: readonly Failed[] }>;
};

/** The labelling of many objects: a dry run for each object, then a write of exactly the changes in the dry runs. */
export function useLabelling(type: () => ServedType, objects: () => readonly Chosen[]): Labelling {
  const { client } = useServer();
  const changes = shallowRef<readonly LabelChange[]>([{ action: 'set', key: '', value: '' }]);
  const patch = computed(() => labelPatchOf(changes.value));
  const checking = useBulkRun<PlannedLabels>();
  const writing = useBulkRun<undefined>();
  const outcomes = shallowRef<readonly Outcome<PlannedLabels>[]>();
  watch(changes, () => {
    outcomes.value = undefined;
  });
  const checked = computed(() => {
    if (outcomes.value === undefined) return undefined;
    const plans = outcomes.value.flatMap((each) => (each.ok ? [{ object: each.object, plan: each.value }] : []));
    const planned = plans.filter(({ plan }) => plan.changes.length > 0);
    return { planned, unchanged: plans.length - planned.length, failed: failuresOf(outcomes.value) };
  });
  return {
    changes,
    patch,
    checked,
    checking,
    writing,
    check: async () => {
      const { value: wanted } = patch;
      if (wanted === undefined) return;
      const found = await checking.start(objects(), async (object, signal) =>
        planLabels(client, type(), { object, patch: wanted, signal }),
      );
      if (found.length === objects().length && wanted === patch.value) outcomes.value = found;
    },
    write: async () => {
      const { value: wanted } = patch;
      const planned = checked.value?.planned ?? [];
      if (wanted === undefined) return { done: 0, failed: [] };
      const versions = new Map(planned.map(({ object, plan }) => [object.uid, plan.resourceVersion]));
      const found = await writing.start(
        planned.map(({ object }) => object),
        async (object, signal) => {
          const resourceVersion = versions.get(object.uid) ?? object.resourceVersion;
          await writeLabels(client, type(), { object, patch: wanted, resourceVersion, signal });
          return undefined;
        },
      );
      outcomes.value = undefined;
      return { done: found.filter(({ ok }) => ok).length, failed: failuresOf(found) };
    },
  };
}

function failuresOf(outcomes: readonly Outcome<unknown>[]): readonly Failed[] {
  return outcomes.flatMap((each) => (each.ok ? [] : [each]));
}

import type { RemoteClient } from 'ledgerplane/client';

import type { ServedType } from '../../../server/served-types.ts';
import { retried } from '../bulk/retried.ts';

export const propagations = ['Background', 'Foreground', 'Orphan'] as const;
/** The treatment of dependents. If undefined, the finalizers of the object decide. */
export type Propagation = (typeof propagations)[number];

/** Objects that a deletion affects. `hidden`: the number of counted objects that are not in `items`. */
export type Concerned<Item> = {
  readonly total: number;
  /** Whether more objects than the counted ones exist. */
  readonly isMore: boolean;
  readonly items: readonly Item[];
  readonly hidden: number;
};

export type Dependents = Concerned<{
  /** `<plural>.<group>` */
  readonly type: string;
  readonly name: string;
  readonly effect: 'delete' | 'release';
}>;

export type Referring = Concerned<{ readonly name: string }> & {
  readonly type: string;
  readonly field: string;
  readonly onDelete: 'refuse' | 'orphan' | 'cascade' | 'clear';
};

/** The effects of the deletion of one object. */
export type DeletionPreview = {
  readonly name: string;
  readonly refusal?: { readonly status: number; readonly reason: string; readonly detail: string };
  readonly finalizers?: readonly string[];
  readonly dependents?: Dependents;
  readonly references?: readonly Referring[];
};

/** The maximum number of names in one preview request. */
const namesMax = 100;

/** Reads the previews of deletions, in the order of the names. */
export async function previewDeletions(
  client: RemoteClient,
  {
    domain,
    type: { group, plural },
    names,
    propagation,
    signal,
  }: {
    readonly domain: string;
    readonly type: ServedType;
    readonly names: readonly string[];
    readonly propagation: Propagation | undefined;
    readonly signal: AbortSignal;
  },
): Promise<readonly DeletionPreview[]> {
  const previews: DeletionPreview[] = [];
  for (let first = 0; first < names.length; first += namesMax) {
    const body = {
      group,
      resource: plural,
      names: names.slice(first, first + namesMax),
      propagationPolicy: propagation,
    };
    const path = `/apis/api.console.${domain}/v1alpha1/deletionpreviews`;
    const answer = await retried(
      async () =>
        client.request<{ readonly items: readonly DeletionPreview[] }>(path, { method: 'POST', body, signal }),
      signal,
    );
    previews.push(...(answer?.items ?? []));
  }
  return previews;
}

/** Whether a deletion has effects beyond the removal of the object. */
export function isNotable({ refusal, finalizers = [], dependents, references = [] }: DeletionPreview): boolean {
  return refusal !== undefined || finalizers.length > 0 || (dependents?.total ?? 0) > 0 || references.length > 0;
}

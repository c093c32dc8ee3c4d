import { invalid, type Refused, refuse } from '../../command/refuse.ts';
import { referrersCountedMax, referrersShownMax } from '../../limits/objects.ts';
import type { NamedTarget } from '../../resource/references/named-targets.ts';
import type { ReferenceFrom, Referrer } from '../../read/references/reference-reader.ts';
import type { Target } from '../target.ts';

export function refuseExcess({ type, name }: Target, count: number, most: number): Refused {
  const detail = `the references must contain at most ${String(most)} names in total, they contain ${String(count)}`;
  return invalid(type, name, [{ pointer: '', detail }]);
}

/** The beginning of the detail of a violation by a reference to a missing or marked object. */
export const missingTarget = 'must name an existing object:';

/** Refuses references to objects that do not exist or, according to `isMarked`, are being deleted. */
export function refuseMissing(
  { type, name }: Target,
  missing: readonly NamedTarget[],
  isMarked: (key: string) => boolean,
): Refused {
  const violations = missing.map(({ declared, name: named, pointer, target }) => {
    const object = `${declared.to} ${JSON.stringify(named.slice(0, nameShownMax))}`;
    const state = target !== undefined && isMarked(target) ? 'is being deleted' : 'does not exist';
    return { pointer, detail: `${missingTarget} ${object} ${state}` };
  });
  return invalid(type, name, violations);
}

const nameShownMax = 64;

type Referenced = {
  readonly declared: ReferenceFrom;
  readonly referrers: readonly Referrer[];
  readonly mayName: (name: string) => boolean;
};

/**
 * Refuses the deletion of an object that other objects name. The detail contains the first few names that the writer
 * may read.
 */
export function refuseReferenced({ type, name }: Target, { declared, referrers, mayName }: Referenced): Refused {
  const { from, field } = declared;
  const shown = referrers
    .slice(0, referrersShownMax)
    .filter((referrer) => mayName(referrer.name))
    .map((referrer) => JSON.stringify(referrer.name));
  const count =
    referrers.length > referrersCountedMax ? `more than ${String(referrersCountedMax)}` : String(referrers.length);
  const more = shown.length < referrers.length ? ' and others' : '';
  const names = shown.length === 0 ? '' : `: ${shown.join(', ')}${more}`;
  const objects = `${count} ${referrers.length === 1 ? 'object' : 'objects'} of ${from}`;
  return refuse(
    'referenced',
    `${type.key} "${name}" cannot be deleted, because ${objects} ${referrers.length === 1 ? 'names' : 'name'} it in ` +
      `${field}${names}`,
  );
}

import { objectBytesMax } from '../limits/objects.ts';
import { validationErrorsMax } from '../limits/requests.ts';
import { metadataViolations, type Draft } from '../resource/object/draft.ts';
import { nameProblem } from '../resource/type/names.ts';
import type { ResourceObject } from '../resource/object/object.ts';
import type { Violation } from '../resource/type/resource-type.ts';
import type { Part } from './command.ts';
import type { Facts } from './facts.ts';
import { memberViolations } from './ratcheting.ts';
import { dottedPath, invalid, refuse, type Refused } from './refuse.ts';

export type Admitted = {
  readonly ok: true;
  readonly members: Readonly<Record<string, unknown>>;
  readonly warnings: readonly string[];
  /** A violation if the defaults would make the object too large. The defaults are then not filled in. */
  readonly violations: readonly Violation[];
};

/**
 * Returns the draft's members with defaults. `fieldValidation` decides whether unknown members are dropped or refused
 * (decision 1.9). An undefined `fieldValidation` keeps unknown members.
 */
export function admit(draft: Draft, facts: Facts): Admitted | Refused {
  const known = admitKnown(draft, facts);
  return known.ok ? { ...known, ...fillAdmitted(known.members, facts) } : known;
}

export function fillAdmitted(
  members: Readonly<Record<string, unknown>>,
  { type }: Facts,
): Pick<Admitted, 'members' | 'violations'> {
  const filled = type.fillDefaults(members);
  return filled === undefined ? { members, violations: [oversized] } : { members: filled, violations: [] };
}

const oversized: Violation = {
  pointer: '',
  detail: `the defaults of the type would add more than the limit of ${String(objectBytesMax)} bytes`,
};

function admitKnown(draft: Draft, { type, fieldValidation }: Facts): Admitted | Refused {
  if (fieldValidation === undefined) return { ok: true, members: draft.members, warnings: [], violations: [] };
  const pruned = type.prune(draft.members);
  const unknown = [...draft.unknown, ...pruned.unknown]
    .slice(0, validationErrorsMax)
    .map((pointer) => `unknown field "${dottedPath(pointer)}"`);
  if (fieldValidation === 'Strict' && unknown.length > 0)
    return refuse('bad-request', `strict decoding error: ${unknown.join(', ')}`);
  return {
    ok: true,
    members: pruned.object,
    warnings: fieldValidation === 'Warn' ? unknown : [],
    violations: [],
  };
}

type Validated = {
  /**
   * The members to validate; undefined if the write does not change the members. Unchanged members are not validated
   * again, although the schema may have changed.
   */
  readonly members: Readonly<Record<string, unknown>> | undefined;
  readonly more: readonly Violation[];
  readonly current?: ResourceObject;
  readonly part?: Part;
  /** The given or generated name of a new object; undefined for an update. */
  readonly name?: string;
};

/**
 * Refuses a write that violates the rules of metadata or the schema. The refusal lists at most `validationErrorsMax`
 * violations.
 */
export function refuseViolations(
  draft: Draft,
  { members, more, current, part = 'main', name }: Validated,
  facts: Facts,
): Refused | undefined {
  const unknown =
    facts.fieldValidation === undefined ? draft.unknown.map((pointer) => ({ pointer, detail: 'is not known' })) : [];
  const rules = { origin: facts.origin, domain: facts.domain, storedLabels: current?.metadata.labels };
  const { generateName } = current?.metadata ?? draft;
  const change = { name: name ?? draft.name ?? '', generateName, current, part };
  const violations = [
    ...draft.violations,
    ...more,
    ...metadataViolations(draft, rules),
    ...unknown,
    ...(members === undefined ? [] : memberViolations(facts.type, { ...change, members })),
  ];
  return violations.length === 0 ? undefined : invalid(facts.type, draft.name ?? draft.generateName ?? '', violations);
}

export function nameViolations(draft: Draft, name: string): readonly Violation[] {
  if (draft.violations.some(({ pointer }) => pointer === '/metadata/name' || pointer === '/metadata/generateName'))
    return [];
  const problem = name === '' ? 'must not be empty (or set metadata.generateName)' : nameProblem(name);
  return problem === undefined
    ? []
    : [
        {
          pointer:
            draft.name === undefined && draft.generateName !== undefined ? '/metadata/generateName' : '/metadata/name',
          detail: problem,
        },
      ];
}

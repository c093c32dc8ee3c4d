import { isObject } from '../../base/guards.ts';
import type { WriteContext } from '../../command/command.ts';
import type { Json } from '../../base/json.ts';
import { validationErrorsMax } from '../../limits/requests.ts';
import { reviewsByPath } from '../../openapi/review-schemas.ts';
import type { Schema } from '../../resource/schema/schema-check.ts';
import { problem } from '../problem.ts';
import type { Decoded } from '../resources/decode-list-query.ts';
import type { JsonMembers } from '../resources/decode-write.ts';

/** The known members of an object. Undefined means that every value of the member is known. */
type Known = { readonly members: ReadonlyMap<string, Known | undefined> };

const everyReview = ['apiVersion', 'kind', 'metadata', 'status'].map((member) => [member, undefined] as const);

const knownByKind: ReadonlyMap<string, Known> = new Map(
  [...reviewsByPath.values()].map(({ kind, spec }) => {
    const members = new Map<string, Known | undefined>(everyReview);
    if (spec !== undefined) members.set('spec', knownIn(spec));
    return [kind, { members }];
  }),
);

function knownIn(properties: Schema): Known {
  const entries = Object.entries(properties).map(([member, schema]) => {
    const inner = isObject(schema) ? schema['properties'] : undefined;
    return [member, isObject(inner) ? knownIn(inner) : undefined] as const;
  });
  return { members: new Map(entries) };
}

export type KnownBody = {
  readonly body: JsonMembers;
  readonly warnings: readonly string[];
};

/**
 * Removes unknown members from the body of a review. As in Kubernetes, `Warn` adds a warning for each unknown member,
 * `Ignore` adds none, and `Strict` refuses the body.
 */
export function knownBody(
  kind: string,
  given: JsonMembers,
  fieldValidation: WriteContext['fieldValidation'] = 'Warn',
): Decoded<KnownBody> {
  const known = knownByKind.get(kind);
  if (known === undefined) throw new Error(`the server has no review of kind ${kind}`);
  const unknown: string[] = [];
  const body = pick(given, known, (path) => {
    if (unknown.length < validationErrorsMax) unknown.push(`unknown field "${path}"`);
  });
  if (fieldValidation === 'Strict' && unknown.length > 0)
    return { ok: false, problem: problem('bad-request', `strict decoding error: ${unknown.join(', ')}`) };
  return { ok: true, value: { body, warnings: fieldValidation === 'Warn' ? unknown : [] } };
}

function pick(given: JsonMembers, { members }: Known, drop: (path: string) => void): JsonMembers {
  const kept = Object.entries(given).flatMap(([member, value]): readonly (readonly [string, Json])[] => {
    if (!members.has(member)) {
      drop(member);
      return [];
    }
    const below = members.get(member);
    if (below === undefined || !isMembers(value)) return [[member, value]];
    const dropBelow = (path: string): void => {
      drop(`${member}.${path}`);
    };
    return [[member, pick(value, below, dropBelow)]];
  });
  return Object.fromEntries(kept);
}

function isMembers(value: Json): value is JsonMembers {
  return isObject(value);
}

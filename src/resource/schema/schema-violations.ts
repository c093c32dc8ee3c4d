import type { ErrorObject } from 'ajv';

import { isObject } from '../../base/guards.ts';
import { nearWord } from './suggestions.ts';
import { valueAt } from '../object/json-pointer.ts';
import { escapeToken } from '../../base/reference-token.ts';
import type { Violation } from '../type/resource-type.ts';

/**
 * `unknown`: whether the violation is an unknown member, which can be removed. `keyword`: the keyword of the schema
 * that the value violates.
 */
export type Explained = Violation & {
  readonly unknown: boolean;
  readonly keyword: string;
};

/**
 * Converts a validator's errors into violations for people: one entry for each violation, at the member that must
 * change. A failed `anyOf` or `oneOf` gets one entry for the whole choice, because the intended branch is unknown.
 * `schema` is the schema of the validator: for an unknown member, the violation suggests a similar name from `schema`.
 */
export function explain(errors: readonly ErrorObject[], schema?: unknown): readonly Explained[] {
  const kept: ErrorObject[] = [];
  const entries = new Map<string, Explained>();
  const add = (entry: Explained): void => {
    entries.set(`${entry.pointer}\n${entry.detail}`, entry);
  };
  const choices: Explained[] = [];
  for (const error of errors) {
    if (error.keyword === 'anyOf' || error.keyword === 'oneOf') {
      const inner = takeInner(kept, error);
      choices.push({
        pointer: error.instancePath,
        detail: choiceDetail(error, inner),
        unknown: false,
        keyword: error.keyword,
      });
    } else if (error.keyword !== 'if' && error.propertyName === undefined) {
      kept.push(error);
    }
  }
  for (const [index, error] of kept.entries())
    add({
      pointer: pointerOf(error),
      detail: `${detailOf(error)}${index < hintsMax ? meantBy(error, schema) : ''}`,
      unknown: isUnknownMember(error),
      keyword: error.keyword,
    });
  choices.forEach(add);
  return [...entries.values()];
}

/** The most errors with a hint, which compares the name with all declared ones: an object may have 10,000 errors. */
const hintsMax = 16;

/**
 * Removes the errors of a choice's branches from `kept`, and returns the removed errors. The branches' errors directly
 * precede the error of the choice.
 */
function takeInner(kept: ErrorObject[], choice: ErrorObject): readonly ErrorObject[] {
  const branches = `${choice.schemaPath}/`;
  let from = kept.length;
  while (from > 0 && isInner(kept[from - 1], choice, branches)) from -= 1;
  return kept.splice(from);
}

function isInner(error: ErrorObject | undefined, choice: ErrorObject, branches: string): boolean {
  if (error === undefined || !error.instancePath.startsWith(choice.instancePath)) return false;
  return (
    error.schemaPath.startsWith(branches) ||
    error.schemaPath.startsWith('#/$defs/') ||
    error.schemaPath.startsWith('#/definitions/')
  );
}

/** The maximum number of branches of a choice that a message lists. */
const reportedBranchesMax = 4;

function choiceDetail(choice: ErrorObject, inner: readonly ErrorObject[]): string {
  if (inner.length === 0)
    return choice.keyword === 'oneOf'
      ? 'must match exactly one of the allowed forms, but matches several'
      : 'must match one of the allowed forms';
  const branches = [
    ...new Set(
      inner.map((error) => {
        const below = pointerOf(error).slice(choice.instancePath.length);
        return below === '' ? detailOf(error) : `${below} ${detailOf(error)}`;
      }),
    ),
  ];
  const more = branches.length > reportedBranchesMax ? '; …' : '';
  return `must match one of the allowed forms: ${branches.slice(0, reportedBranchesMax).join('; or ')}${more}`;
}

/**
 * Returns the pointer of an error. If the error concerns a missing, unknown or wrongly named member, the pointer
 * includes the member.
 */
function pointerOf(error: ErrorObject): string {
  const member =
    parameter(error, 'missingProperty') ??
    parameter(error, 'additionalProperty') ??
    parameter(error, 'unevaluatedProperty') ??
    parameter(error, 'propertyName');
  return member === undefined ? error.instancePath : `${error.instancePath}/${escapeToken(member)}`;
}

function isUnknownMember(error: ErrorObject): boolean {
  return error.keyword === 'additionalProperties' || error.keyword === 'unevaluatedProperties';
}

function meantBy(error: ErrorObject, schema: unknown): string {
  const member = parameter(error, 'additionalProperty') ?? parameter(error, 'unevaluatedProperty');
  const declaring =
    member === undefined
      ? undefined
      : valueAt(schema, decodeURIComponent(error.schemaPath.slice(1, error.schemaPath.lastIndexOf('/'))));
  if (member === undefined || !isObject(declaring) || !isObject(declaring['properties'])) return '';
  const near = nearWord(member, Object.keys(declaring['properties']));
  return near === undefined ? '' : `; did you mean ${JSON.stringify(near)}?`;
}

function detailOf(error: ErrorObject): string {
  switch (error.keyword) {
    case 'required':
    case 'dependentRequired':
      return 'is required';
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return 'is not known';
    case 'propertyNames':
      return 'is not an allowed member name';
    case 'enum':
      return `must be one of ${shortList(allowed(error))}`;
    case 'const':
      return `must be ${shortJson(allowed(error))}`;
    case 'type':
      return `must be of type ${(parameter(error, 'type') ?? String(allowed(error))).replaceAll(',', ' or ')}`;
    case 'false schema':
      return 'must be absent';
    default:
      return (error.message ?? 'is not allowed').replace('NOT', 'not');
  }
}

function allowed(error: ErrorObject): unknown {
  const params: Readonly<Record<string, unknown>> = error.params;
  return params['allowedValues'] ?? params['allowedValue'] ?? params['type'];
}

const detailLengthMax = 200;

function shortList(values: unknown): string {
  if (!Array.isArray(values)) return shortened(JSON.stringify(values));
  let text = '';
  for (const value of values) {
    text += `${text === '' ? '' : ', '}${JSON.stringify(value)}`;
    if (text.length > detailLengthMax) break;
  }
  return shortened(text);
}

/** Returns a short JSON text of any value, for messages. */
export function shortJson(value: unknown, lengthMax: number = detailLengthMax): string {
  if (value === undefined) return 'absent';
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`;
  try {
    return shortened(JSON.stringify(value), lengthMax);
  } catch {
    return 'a value that JSON cannot represent';
  }
}

function parameter(error: ErrorObject, name: string): string | undefined {
  const params: Readonly<Record<string, unknown>> = error.params;
  const value = params[name];
  return typeof value === 'string' ? value : undefined;
}

function shortened(text: string, lengthMax: number = detailLengthMax): string {
  return text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text;
}

import { isObject } from '../../base/guards.ts';
import {
  annotationsBytesMax,
  finalizersPerObjectMax,
  labelsPerObjectMax,
  ownerReferencesPerObjectMax,
} from '../../limits/objects.ts';
import { isReservedLabel, keyProblem, labelValueProblem } from '../type/names.ts';
import type { OwnerReference } from './object.ts';
import { ownerTextLengthMax } from './owner-limits.ts';
import type { Violation } from '../type/resource-type.ts';
import { escapeToken } from '../../base/reference-token.ts';

/**
 * An object as the client sent it, decoded once. Metadata that only the server sets is dropped. All violations of the
 * metadata's form are collected, so that one response lists all violations. The type's schema validates the other
 * members.
 */
export type Draft = {
  readonly apiVersion: string | undefined;
  readonly kind: string | undefined;
  readonly name: string | undefined;
  readonly generateName: string | undefined;
  /**
   * `uid`, `version` and `resourceVersion` are preconditions of an update. Null is treated as absent (decision 2.2).
   */
  readonly uid: string | undefined;
  readonly version: number | undefined;
  readonly resourceVersion: string | undefined;
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly annotations: Readonly<Record<string, string>> | undefined;
  readonly finalizers: readonly string[] | undefined;
  readonly ownerReferences: readonly OwnerReference[] | undefined;
  /** Every top-level member except for apiVersion, kind and metadata. */
  readonly members: Readonly<Record<string, unknown>>;
  readonly violations: readonly Violation[];
  /** Pointers of unknown members in the metadata (decision 1.9). */
  readonly unknown: readonly string[];
};

type Members = Readonly<Record<string, unknown>>;

/**
 * Members of the metadata that are ignored without a warning. Some are set only by the server, and the others have no
 * meaning outside of Kubernetes.
 */
const dropped = new Set([
  'creationTimestamp',
  'deletionTimestamp',
  'generation',
  'deletionGracePeriodSeconds',
  'selfLink',
  'managedFields',
]);
const known = new Set([
  'name',
  'generateName',
  'namespace',
  'uid',
  'version',
  'resourceVersion',
  'labels',
  'annotations',
  'finalizers',
  'ownerReferences',
]);

export function draftOf(body: Members): Draft {
  const { apiVersion, kind, metadata, ...members } = body;
  const violations: Violation[] = [];
  const addViolation = (pointer: string, detail: string): void => {
    violations.push({ pointer, detail });
  };
  if (metadata !== undefined && !isObject(metadata)) addViolation('/metadata', 'must be an object');
  const meta = isObject(metadata) ? metadata : {};
  for (const member of Object.keys(members))
    if (isPlace(member))
      addViolation(`/${member}`, 'must not have a number as its name, because such members would precede apiVersion');
  if (text(meta, 'namespace', addViolation) !== undefined && meta['namespace'] !== '')
    addViolation('/metadata/namespace', 'must not be set: objects have no namespace');
  const unknown = Object.keys(meta)
    .filter((member) => !known.has(member) && !dropped.has(member))
    .map((member) => `/metadata/${escapeToken(member)}`);
  return {
    apiVersion: text(body, 'apiVersion', addViolation, ''),
    kind: text(body, 'kind', addViolation, ''),
    name: nonEmpty(text(meta, 'name', addViolation)),
    generateName: nonEmpty(text(meta, 'generateName', addViolation)),
    uid: nonEmpty(text(meta, 'uid', addViolation)),
    version: versionOf(meta, addViolation),
    resourceVersion: nonEmpty(text(meta, 'resourceVersion', addViolation)),
    labels: textMap(meta, 'labels', addViolation),
    annotations: textMap(meta, 'annotations', addViolation),
    finalizers: finalizersOf(meta, addViolation),
    ownerReferences: ownersOf(meta, addViolation, (pointer) => {
      unknown.push(pointer);
    }),
    members,
    violations,
    unknown,
  };
}

/** Returns `name` and `generateName` of an object as a client sent it, decoded as in `draftOf`. */
export function namesOf({ metadata }: Members): Pick<Draft, 'name' | 'generateName'> {
  if (!isObject(metadata)) return { name: undefined, generateName: undefined };
  const ignored: Broken = () => undefined;
  return {
    name: nonEmpty(text(metadata, 'name', ignored)),
    generateName: nonEmpty(text(metadata, 'generateName', ignored)),
  };
}

export type MetadataRules = {
  /** The kind of author. A write with the origin `plugin` must not set reserved labels. */
  readonly origin: 'client' | 'plugin' | 'platform';
  readonly domain: string;
  /** The labels of the stored object. An unchanged label is allowed even if its key is reserved. */
  readonly storedLabels: Readonly<Record<string, string>> | undefined;
};

/** Returns the violations of the rules for labels, annotations, finalizers and owner references (seed 2.5). */
export function metadataViolations(draft: Draft, rules: MetadataRules): readonly Violation[] {
  const violations: Violation[] = [];
  const addViolation = (pointer: string, detail: string): void => {
    violations.push({ pointer, detail });
  };
  checkLabels(draft.labels ?? {}, rules, addViolation);
  checkAnnotations(draft.annotations ?? {}, addViolation);
  const finalizers = draft.finalizers ?? [];
  if (finalizers.length > finalizersPerObjectMax)
    addViolation('/metadata/finalizers', `must have at most ${String(finalizersPerObjectMax)} entries`);
  finalizers.forEach((finalizer, index) => {
    const problem = keyProblem(finalizer);
    if (problem !== undefined) addViolation(`/metadata/finalizers/${String(index)}`, problem);
  });
  if ((draft.ownerReferences?.length ?? 0) > ownerReferencesPerObjectMax)
    addViolation('/metadata/ownerReferences', `must have at most ${String(ownerReferencesPerObjectMax)} entries`);
  return violations;
}

type Broken = (pointer: string, detail: string) => void;

function checkLabels(
  labels: Readonly<Record<string, string>>,
  { origin, domain, storedLabels = {} }: MetadataRules,
  addViolation: Broken,
): void {
  const entries = Object.entries(labels);
  if (entries.length > labelsPerObjectMax) {
    addViolation(
      '/metadata/labels',
      `must have at most ${String(labelsPerObjectMax)} labels, has ${String(entries.length)}`,
    );
    return;
  }
  for (const [key, value] of entries) {
    const pointer = `/metadata/labels/${escapeToken(key)}`;
    const problem = keyProblem(key);
    if (problem !== undefined) addViolation(pointer, problem);
    else if (origin === 'plugin' && storedLabels[key] !== value && isReservedLabel(key, domain))
      addViolation(pointer, 'is reserved for the platform: use a key with a prefix of the plugin');
    const valueProblem = labelValueProblem(value);
    if (valueProblem !== undefined) addViolation(pointer, `the value ${valueProblem}`);
  }
}

function checkAnnotations(annotations: Readonly<Record<string, string>>, addViolation: Broken): void {
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
    const problem = keyProblem(key);
    if (problem !== undefined) addViolation(`/metadata/annotations/${escapeToken(key)}`, problem);
  }
  if (bytes > annotationsBytesMax)
    addViolation(
      '/metadata/annotations',
      `must have at most ${String(annotationsBytesMax)} bytes in total, has ${String(bytes)}`,
    );
}

function text(members: Members, member: string, addViolation: Broken, parent = '/metadata'): string | undefined {
  const value = members[member];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  addViolation(`${parent}/${member}`, 'must be a string');
  return undefined;
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

function versionOf(meta: Members, addViolation: Broken): number | undefined {
  const value = meta['version'];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  addViolation('/metadata/version', 'must be a whole number >= 0');
  return undefined;
}

function textMap(meta: Members, member: string, addViolation: Broken): Readonly<Record<string, string>> | undefined {
  const value = meta[member];
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) {
    addViolation(`/metadata/${member}`, 'must be an object of strings');
    return undefined;
  }
  let complete = true;
  for (const key in value) {
    if (typeof value[key] === 'string') continue;
    complete = false;
    addViolation(`/metadata/${member}/${escapeToken(key)}`, 'must be a string');
  }
  return complete && Object.keys(value).length > 0 ? (value as Readonly<Record<string, string>>) : undefined;
}

function finalizersOf(meta: Members, addViolation: Broken): readonly string[] | undefined {
  const value = meta['finalizers'];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) {
    addViolation('/metadata/finalizers', 'must be an array of strings');
    return undefined;
  }
  const finalizers = new Set<string>();
  value.forEach((finalizer: unknown, index) => {
    if (typeof finalizer === 'string') finalizers.add(finalizer);
    else addViolation(`/metadata/finalizers/${String(index)}`, 'must be a string');
  });
  return finalizers.size > 0 ? [...finalizers] : undefined;
}

type Unknown = (pointer: string) => void;

function ownersOf(meta: Members, addViolation: Broken, unknown: Unknown): readonly OwnerReference[] | undefined {
  const value = meta['ownerReferences'];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) {
    addViolation('/metadata/ownerReferences', 'must be an array');
    return undefined;
  }
  const owners = value.flatMap((raw: unknown, index) =>
    ownerOf(raw, `/metadata/ownerReferences/${String(index)}`, { addViolation, unknown }),
  );
  return owners.length > 0 ? owners : undefined;
}

const ownerTexts = ['apiVersion', 'kind', 'name', 'uid'] as const;
const ownerFlags = ['controller', 'blockOwnerDeletion'] as const;
const ownerMembers: ReadonlySet<string> = new Set([...ownerTexts, ...ownerFlags]);

function ownerOf(
  raw: unknown,
  pointer: string,
  { addViolation, unknown }: { readonly addViolation: Broken; readonly unknown: Unknown },
): readonly OwnerReference[] {
  if (!isObject(raw)) {
    addViolation(pointer, 'must be an object');
    return [];
  }
  const wrongTexts = ownerTexts.filter(
    (member) => typeof raw[member] !== 'string' || raw[member] === '' || raw[member].length > ownerTextLengthMax,
  );
  const wrongFlags = ownerFlags.filter((member) => raw[member] !== undefined && typeof raw[member] !== 'boolean');
  for (const member of wrongTexts)
    addViolation(`${pointer}/${member}`, `must be a string of 1 to ${String(ownerTextLengthMax)} characters`);
  for (const member of wrongFlags) addViolation(`${pointer}/${member}`, 'must be a boolean');
  const members = Object.keys(raw);
  for (const member of members) if (!ownerMembers.has(member)) unknown(`${pointer}/${escapeToken(member)}`);
  if (wrongTexts.length > 0 || wrongFlags.length > 0) return [];
  return [
    Object.fromEntries(
      members.filter((member) => ownerMembers.has(member)).map((member) => [member, raw[member]]),
    ) as OwnerReference,
  ];
}

/**
 * Whether the name of the member is an array index. JavaScript enumerates such members first, independent of the order
 * of insertion.
 */
function isPlace(member: string): boolean {
  return /^(?:0|[1-9][0-9]*)$/u.test(member);
}

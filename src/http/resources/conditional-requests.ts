import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

import type { ResourceType } from '../../resource/type/resource-type.ts';
import { prefersYaml } from '../body/prefers-yaml.ts';
import { headerOf } from '../exchange.ts';
import { problem, type Problem } from '../problem.ts';

/**
 * Returns the entity tag of an object (RFC 9110, 8.8.3): `"<object version>-<API version>-<digest>"`. The digest
 * changes with the type's declaration, which determines the defaults and the conversion of the object.
 */
export function etagOf(version: number, type: ResourceType): string {
  let suffix = suffixes.get(type);
  if (suffix === undefined) {
    const { shape = '', code = '' } = type.declaration ?? {};
    const digest = createHash('sha256').update(`${shape} ${code}`).digest('hex');
    suffix = `-${type.version}-${digest.slice(0, digestLength)}"`;
    suffixes.set(type, suffix);
  }
  return `"${String(version)}${suffix}`;
}

const digestLength = 8;
const suffixes = new WeakMap<ResourceType, string>();

/**
 * Returns the versions in `If-Match`; `any` for `*`; undefined without the header. Weak tags are dropped, because
 * `If-Match` requires strong comparison.
 */
export function ifMatchOf(req: IncomingMessage): readonly number[] | 'any' | undefined {
  const header = headerOf(req, 'if-match');
  if (header === undefined) return undefined;
  return header.trim() === '*' ? 'any' : versionsOf(header, 'strong');
}

/** Returns whether `If-None-Match` contains a tag of this version, or is `*`. */
export function isKnown(req: IncomingMessage, version: number): boolean {
  const header = headerOf(req, 'if-none-match');
  if (header === undefined) return false;
  return header.trim() === '*' || versionsOf(header, 'weak').includes(version);
}

/**
 * Returns whether a read returns 304. A client that prefers YAML gets no 304, because YAML responses have no entity
 * tag.
 */
export function isTagKnown(req: IncomingMessage, tag: string): boolean {
  const header = headerOf(req, 'if-none-match');
  if (header === undefined || prefersYaml(req.headers.accept)) return false;
  return header
    .split(',')
    .map((part) => part.trim())
    .some((part) => part === tag || part === `W/${tag}` || part === '*');
}

/** Returns the problem (412) if the `If-Match` of a read excludes this version. */
export function checkConditions(req: IncomingMessage, version: number): Problem | undefined {
  const ifMatch = ifMatchOf(req);
  if (ifMatch === undefined || ifMatch === 'any' || ifMatch.includes(version)) return undefined;
  return problem('precondition-failed', `If-Match does not contain the current version ${String(version)}`);
}

const tags = /^\s*(?:\*|(?:W\/)?(?:"[^"]*"|\d{1,16})(?:\s*,\s*(?:W\/)?(?:"[^"]*"|\d{1,16}))*)\s*$/u;

/**
 * Returns the problem of a malformed `If-Match`, which is refused with 400 instead of 412. The version alone is
 * accepted as an entity tag.
 */
export function checkConditionSyntax(req: IncomingMessage): string | undefined {
  const header = headerOf(req, 'if-match');
  return header === undefined || tags.test(header)
    ? undefined
    : 'the header If-Match must be * or entity tags in quotes, separated by commas';
}

function versionsOf(header: string, comparison: 'strong' | 'weak'): readonly number[] {
  return header.split(',').flatMap((part) => {
    const tag = /^\s*(W\/)?(?:"(\d{1,16})(?:-[^"]*)?"|(\d{1,16}))\s*$/u.exec(part);
    return tag === null || (comparison === 'strong' && tag[1] !== undefined) ? [] : [Number(tag[2] ?? tag[3])];
  });
}

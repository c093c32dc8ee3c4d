import { isObject } from '../../base/guards.ts';
import { decodeJson } from '../../base/json.ts';
import { jsonDepthMax } from '../../limits/requests.ts';
import type { Metadata } from '../../resource/object/object.ts';
import { membersAt, type Members } from './type-members.ts';

/** The annotation with which `kubectl apply` keeps a copy of its input, as JSON. */
export const appliedCopy = 'kubectl.kubernetes.io/last-applied-configuration';

/** A member of an object and a member of that one, such as `['spec', 'password']`. */
export type SecretMember = readonly [part: string, member: string];

/**
 * The metadata with a copy that holds none of the secret members. The copy itself is kept where it can be read:
 * without it `kubectl apply` warns, and takes every object for changed.
 */
export function withoutCopiedSecrets(metadata: Metadata, secrets: readonly SecretMember[]): Metadata {
  const { annotations: { [appliedCopy]: copy, ...others } = {}, ...rest } = metadata;
  if (copy === undefined) return metadata;
  const kept = withoutSecrets(copy, secrets);
  const annotations = { ...others, ...(kept === undefined ? {} : { [appliedCopy]: kept }) };
  return Object.keys(annotations).length === 0 ? rest : { ...rest, annotations };
}

/** The same text if it has no secrets; undefined if it cannot be searched. */
function withoutSecrets(text: string, secrets: readonly SecretMember[]): string | undefined {
  // Refuses double keys, of which `JSON.parse` would show the last one only.
  const decoded = decodeJson(Buffer.from(text), { depthMax: jsonDepthMax });
  if (!decoded.ok || !isObject(decoded.value)) return undefined;
  const clean = secrets.reduce(withoutMember, decoded.value);
  return clean === decoded.value ? text : `${JSON.stringify(clean)}\n`;
}

function withoutMember(object: Members, [part, member]: SecretMember): Members {
  const { [member]: secret, ...others } = membersAt(object, part);
  return secret === undefined ? object : { ...object, [part]: others };
}

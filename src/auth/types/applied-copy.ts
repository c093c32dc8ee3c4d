import { isObject } from '../../base/guards.ts';
import { decodeJson } from '../../base/json.ts';
import { jsonDepthMax } from '../../limits/requests.ts';
import type { Metadata } from '../../resource/object/object.ts';
import { membersAt, type Members } from './type-members.ts';

/** The annotation in which `kubectl apply` stores a copy of its input, as JSON. */
export const appliedCopy = 'kubectl.kubernetes.io/last-applied-configuration';

/** The path of a secret member in an object, such as `['spec', 'password']`. */
export type SecretMember = readonly [part: string, member: string];

/**
 * Returns the metadata without the secret members in the copy. The copy itself stays, because without a copy, `kubectl
 * apply` would print a warning and treat each object as changed. A copy that cannot be parsed is removed.
 */
export function withoutCopiedSecrets(metadata: Metadata, secrets: readonly SecretMember[]): Metadata {
  const { annotations: { [appliedCopy]: copy, ...others } = {}, ...rest } = metadata;
  if (copy === undefined) return metadata;
  const kept = withoutSecrets(copy, secrets);
  const annotations = { ...others, ...(kept === undefined ? {} : { [appliedCopy]: kept }) };
  return Object.keys(annotations).length === 0 ? rest : { ...rest, annotations };
}

/** Returns the text without secrets; undefined if the text cannot be parsed. */
function withoutSecrets(text: string, secrets: readonly SecretMember[]): string | undefined {
  // Duplicate keys are refused, because `JSON.parse` would return only the last value.
  const decoded = decodeJson(Buffer.from(text), { depthMax: jsonDepthMax });
  if (!decoded.ok || !isObject(decoded.value)) return undefined;
  const clean = secrets.reduce(withoutMember, decoded.value);
  return clean === decoded.value ? text : `${JSON.stringify(clean)}\n`;
}

function withoutMember(object: Members, [part, member]: SecretMember): Members {
  const { [member]: secret, ...others } = membersAt(object, part);
  return secret === undefined ? object : { ...object, [part]: others };
}

import { labelNameLengthMax, labelValueLengthMax, nameLengthMax } from '../../limits/objects.ts';

/**
 * The naming rules of seed 2.5 and decision 1.8. A function with a name that ends in `Problem` returns the problem of a
 * value, or undefined for a valid value. Names, prefixes and groups follow Kubernetes' version of RFC 1123. A
 * metadata.name has the characters of one DNS label, so it contains no dots.
 */

/** Kubernetes' form of the name of a version. */
export const versionForm = /^v[1-9][0-9]{0,3}(?:(?:alpha|beta)[1-9][0-9]{0,3})?$/u;

const name = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/u;
const subdomain = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/u;
const labelName = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/u;
const controlCharacter = /[\p{Cc}\u2028\u2029]/u;

export function nameProblem(value: string): string | undefined {
  if (value.length === 0) return 'must not be empty';
  if (value.length > nameLengthMax)
    return `must be at most ${String(nameLengthMax)} characters, is ${String(value.length)}`;
  if (!name.test(value))
    return 'must contain only lowercase letters, digits and "-", and start and end with a letter or digit';
  return undefined;
}

/** Checks a group, or the prefix of a key of a label, annotation or finalizer: a DNS subdomain. */
export function subdomainProblem(value: string): string | undefined {
  if (value.length === 0) return 'must not be empty';
  if (value.length > nameLengthMax)
    return `must be at most ${String(nameLengthMax)} characters, is ${String(value.length)}`;
  if (!subdomain.test(value))
    return (
      'must be a DNS subdomain: lowercase letters, digits, "-" and ".", and each part must start and ' +
      'end with a letter or digit'
    );
  return undefined;
}

/** Checks a finalizer or the key of a label or annotation. The form is `<prefix>/<name>` or `<name>`. */
export function keyProblem(value: string): string | undefined {
  const slash = value.indexOf('/');
  const local = value.slice(slash + 1);
  if (slash !== -1) {
    const prefix = subdomainProblem(value.slice(0, slash));
    if (prefix !== undefined) return `the prefix ${prefix}`;
  }
  if (local.length === 0) return 'the name must not be empty';
  if (local.length > labelNameLengthMax)
    return `the name must be at most ${String(labelNameLengthMax)} characters, is ${String(local.length)}`;
  if (!labelName.test(local))
    return 'the name must contain only letters, digits, "-", "_" and ".", and start and end with a letter or digit';
  return undefined;
}

export function labelValueProblem(value: string): string | undefined {
  if (value.length > labelValueLengthMax)
    return `must be at most ${String(labelValueLengthMax)} characters, is ${String(value.length)}`;
  if (controlCharacter.test(value)) return 'must not contain control characters';
  return undefined;
}

/** Whether a group is the domain or one of its subdomains. For example, `notsvc.run` is not within `svc.run`. */
export function isWithinDomain(group: string, domain: string): boolean {
  return group === domain || group.endsWith(`.${domain}`);
}

export function isReservedGroup(group: string, domain: string): boolean {
  return group === '' || isWithinDomain(group, domain);
}

/** Whether the key is a documented label key of the platform (seed 2.7), which a plugin's Role templates may have. */
function isDocumentedLabel(key: string, domain: string): boolean {
  return (
    key === `${domain}/role-template` ||
    key === `${domain}/hidden` ||
    key.startsWith(`rbac.authorization.${domain}/aggregate-to-`)
  );
}

/**
 * Whether the label key is reserved for users and the platform, so that a plugin must not set the label. Keys without a
 * prefix are reserved. Keys with a prefix of the platform are reserved too, except for the documented label keys.
 */
export function isReservedLabel(key: string, domain: string): boolean {
  const slash = key.indexOf('/');
  if (slash === -1) return true;
  return isWithinDomain(key.slice(0, slash), domain) && !isDocumentedLabel(key, domain);
}

import { labelNameLengthMax, labelValueLengthMax, nameLengthMax } from '../../limits/objects.ts';

/**
 * The naming rules of seed 2.5 and decision 1.8; each returns the problem, or undefined. Names, prefixes and groups
 * follow Kubernetes' version of RFC 1123; a metadata.name has the characters of one DNS label, without dots.
 */

const name = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/u;
const subdomain = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/u;
const labelName = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/u;
const controlCharacter = /[\p{Cc}\u2028\u2029]/u;

export function nameProblem(value: string): string | undefined {
  if (value.length === 0) return 'must not be empty';
  if (value.length > nameLengthMax)
    return `must be at most ${String(nameLengthMax)} characters, is ${String(value.length)}`;
  if (!name.test(value))
    return 'must hold only lowercase letters, digits and "-", and start and end with a letter or digit';
  return undefined;
}

/** Checks a group or the prefix of a label key: it must be a DNS subdomain, in which dots are allowed. */
export function subdomainProblem(value: string): string | undefined {
  if (value.length === 0) return 'must not be empty';
  if (value.length > nameLengthMax)
    return `must be at most ${String(nameLengthMax)} characters, is ${String(value.length)}`;
  if (!subdomain.test(value))
    return (
      'must be a DNS subdomain: lowercase letters, digits, "-" and ".", each part starting and ' +
      'ending with a letter or digit'
    );
  return undefined;
}

/**
 * Checks the key of a label or annotation, or a finalizer: `<prefix>/<name>`, where the prefix and its slash are
 * optional.
 */
export function keyProblem(value: string): string | undefined {
  const slash = value.indexOf('/');
  const local = value.slice(slash + 1);
  if (slash !== -1) {
    const prefix = subdomainProblem(value.slice(0, slash));
    if (prefix !== undefined) return `its prefix ${prefix}`;
  }
  if (local.length === 0) return 'its name must not be empty';
  if (local.length > labelNameLengthMax)
    return `its name must be at most ${String(labelNameLengthMax)} characters, is ${String(local.length)}`;
  if (!labelName.test(local))
    return 'its name must hold only letters, digits, "-", "_" and ".", and start and end with a letter or digit';
  return undefined;
}

export function labelValueProblem(value: string): string | undefined {
  if (value.length > labelValueLengthMax)
    return `must be at most ${String(labelValueLengthMax)} characters, is ${String(value.length)}`;
  if (controlCharacter.test(value)) return 'must not hold control characters';
  return undefined;
}

/** Whether a group is the domain itself or a subdomain of it: `notsvc.run` is not within `svc.run`. */
export function isWithinDomain(group: string, domain: string): boolean {
  return group === domain || group.endsWith(`.${domain}`);
}

export function isReservedGroup(group: string, domain: string): boolean {
  return group === '' || isWithinDomain(group, domain);
}

/** The platform's documented label keys (seed 2.7), which a plugin's Role templates may have. */
function isDocumentedLabel(key: string, domain: string): boolean {
  return (
    key === `${domain}/role-template` ||
    key === `${domain}/hidden` ||
    key.startsWith(`rbac.authorization.${domain}/aggregate-to-`)
  );
}

/**
 * Reserved for users and the platform: keys without a prefix, or with the platform's. Refused in objects that a plugin
 * ships or writes.
 */
export function isReservedLabel(key: string, domain: string): boolean {
  const slash = key.indexOf('/');
  if (slash === -1) return true;
  return isWithinDomain(key.slice(0, slash), domain) && !isDocumentedLabel(key, domain);
}

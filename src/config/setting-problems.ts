import { isIP, SocketAddress } from 'node:net';

import { isTrustedUrl } from '../access/identity-provider.ts';
import { parseByteCount } from '../base/byte-count.ts';
import { isHostName } from '../base/host-names.ts';
import { eventStoreUrlProblem } from './eventstore-url.ts';
import {
  adminPasswordLengthMax,
  platformDomainLengthMax,
  rateSettingMax,
  settingLengthMax,
} from '../limits/settings.ts';
import { subdomainProblem } from '../resource/type/names.ts';

/**
 * Checks of the values of settings. Each check returns undefined for a valid value. Otherwise, the check returns the
 * problem as a text that follows the name of the setting in a sentence.
 */

export function issuerProblem(value: string): string | undefined {
  return urlProblem(value) ?? (new URL(value).search === '' ? undefined : 'must have no query');
}

/** The problem does not contain the value, which may contain credentials. */
export function urlProblem(value: string): string | undefined {
  return isTrustedUrl(value)
    ? undefined
    : 'must be an https URL without credentials or fragment (http on a loopback address)';
}

/** Checks PUBLIC_URL. The problem does not contain the value, which may contain credentials. */
export function publicUrlProblem(value: string): string | undefined {
  const problem = 'must be an http or https URL without credentials, query or fragment';
  if (!URL.canParse(value) || /[?#\\\s]/u.test(value)) return problem;
  const { protocol, username, password } = new URL(value);
  return /^https?:$/u.test(protocol) && username === '' && password === '' ? textProblem(value) : problem;
}

export function textProblem(value: string): string | undefined {
  return value.length <= settingLengthMax && !/\p{Cc}/u.test(value)
    ? undefined
    : `must be at most ${settingLengthMax.toString()} characters without control characters`;
}

export function hostProblem(value: string): string | undefined {
  return isIP(value) !== 0 || isHostName(value) ? undefined : `must be an address or a host name, is ${quote(value)}`;
}

/**
 * Checks an entry of TRUSTED_PROXIES. With a range of all addresses, any client could forge its address. An IPv4-mapped
 * range would match no proxy, because the addresses of connections are never mapped.
 */
export function networkProblem(value: string): string | undefined {
  const [address = '', prefix, ...more] = value.split('/');
  const bits = isIP(address) === 6 ? 128 : 32;
  const isRange = prefix === undefined || (/^\d{1,3}$/u.test(prefix) && Number(prefix) <= bits);
  if (isIP(address) === 0 || address.includes('%') || !isRange || more.length > 0) {
    return 'is neither an IP address nor a CIDR range';
  }
  if (Number(prefix) === 0) return 'contains every address: list only the addresses of the proxies';
  return /^::ffff:/iu.test(new SocketAddress({ address, family: bits === 32 ? 'ipv4' : 'ipv6' }).address)
    ? 'is an IPv4-mapped range: use the IPv4 form'
    : undefined;
}

export const portProblem = countProblem(65_535);
export const rateProblem = countProblem(rateSettingMax);

function countProblem(max: number): (value: string) => string | undefined {
  const isCount = (value: string): boolean => /^\d{1,16}$/u.test(value) && Number(value) <= max;
  return (value) =>
    isCount(value) ? undefined : `must be a whole number from 0 to ${String(max)}, is ${quote(value)}`;
}

export function byteCountProblem(value: string): string | undefined {
  if (parseByteCount(value) !== undefined) return undefined;
  return `must be a number of bytes such as 1073741824, 512MiB or 2GB, is ${quote(value)}`;
}

export function pathProblem(value: string): string | undefined {
  return value.includes('\0') ? 'must not contain a NUL character' : undefined;
}

export function domainProblem(value: string): string | undefined {
  if (value.length > platformDomainLengthMax)
    return `must be at most ${platformDomainLengthMax.toString()} characters, is ${value.length.toString()}`;
  const problem = subdomainProblem(value);
  return problem === undefined ? undefined : `${problem}, is ${quote(value)}`;
}

/** The problem does not contain the password. */
export function passwordProblem(value: string): string | undefined {
  if (/\p{Cc}/u.test(value)) return 'must not contain control characters';
  return value.length <= adminPasswordLengthMax
    ? undefined
    : `must be at most ${adminPasswordLengthMax.toString()} characters`;
}

export function eventLogProblem(value: string): string | undefined {
  if (value === 'embedded:') return undefined;
  return /^esdb(?:\+discover)?:\/\//u.test(value) ? eventStoreUrlProblem(value) : 'must be embedded: or esdb://…';
}

export function quote(value: string): string {
  return JSON.stringify(value.length > 100 ? `${value.slice(0, 100)}…` : value);
}

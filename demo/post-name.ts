import { createHash } from 'node:crypto';

const nameLengthMax = 253;

/**
 * A package's name as an object's name: lowercase letters, digits and single dashes stay as they are, everything else is
 * `--` and its two hexadecimal digits, so that two packages never share a name. The scope's `@` goes without saying, as only
 * scoped names hold a slash. What is too long then is told apart by its digest.
 */
export function postName(packageName: string): string {
  const bytes = Buffer.from(packageName.replace(/^@(?=[^/]+\/)/u, ''), 'utf8').toString('latin1');
  const encoded = bytes.replaceAll(/[^a-z0-9]/gu, (character, at: number) => {
    const joins = character === '-' && /[a-z0-9]/u.test(bytes[at - 1] ?? '') && /[a-z0-9]/u.test(bytes[at + 1] ?? '');
    return joins ? '-' : `--${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  const name = `npm-${encoded}`;
  return name.length <= nameLengthMax ? name : `npmdigest-${createHash('sha256').update(packageName).digest('hex')}`;
}

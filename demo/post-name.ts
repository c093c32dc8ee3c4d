import { createHash } from 'node:crypto';

/** A post's slug holds at most 200 characters; its name is the same text. */
const slugLengthMax = 200;

/**
 * A package's name as a slug: lowercase letters, digits and single dashes within stay as they are, everything else is
 * `z` and its two hexadecimal digits, and `z` itself is doubled, so that two packages never share a slug. The scope's
 * `@` is implied, as only scoped names contain a slash. A name that is then too long gets a digest to be unique.
 */
export function postName(packageName: string): string {
  const bytes = Buffer.from(packageName.replace(/^@(?=[^/]+\/)/u, ''), 'utf8').toString('latin1');
  const encoded = bytes.replaceAll(/[^a-y0-9]/gu, (character, at: number) => {
    if (character === 'z') return 'zz';
    const joins = character === '-' && /[a-z0-9]/u.test(bytes[at - 1] ?? '') && /[a-z0-9]/u.test(bytes[at + 1] ?? '');
    return joins ? '-' : `z${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  const name = `npm-${encoded}`;
  return name.length <= slugLengthMax ? name : `npmdigest-${createHash('sha256').update(packageName).digest('hex')}`;
}

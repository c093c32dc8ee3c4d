import { test } from 'tap';

import { Passwords } from '../../src/auth/passwords/password.ts';

const turn = { network: '192.0.2.1', isKnown: false };

test('a hash is a PHC string with its own salt that verifies its password and no other', async (t) => {
  const passwords = new Passwords();
  const hash = async (): Promise<string> => {
    const hashed = await passwords.hash('pässword', turn);
    return hashed.done ? hashed.result : '';
  };
  const [first, second] = await Promise.all([hash(), hash()]);
  t.match(first, /^\$scrypt\$ln=15,r=8,p=3\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/u);
  t.not(first, second);
  t.equal(await passwords.verify('pässword'.normalize('NFD'), first), true, 'however its characters are composed');
  t.equal(await passwords.verify('passwort', first), false);
  t.equal(await passwords.verify('', first), false);
});

test('a user without a hash is never verified', async (t) => {
  t.equal(await new Passwords().verify('anything', undefined), false);
});

test('hashes made with other parameters still verify, and absurd ones are an error', async (t) => {
  const passwords = new Passwords();
  // scrypt('secret', 16 zero bytes, N=2^10, r=8, p=1), 32 bytes.
  const { scryptSync } = await import('node:crypto');
  const hash = scryptSync('secret', Buffer.alloc(16), 32, { N: 1_024, r: 8, p: 1 })
    .toString('base64')
    .replaceAll('=', '');
  t.equal(await passwords.verify('secret', `$scrypt$ln=10,r=8,p=1$${'A'.repeat(22)}$${hash}`), true);
  for (const stored of [
    '',
    'secret',
    `$scrypt$ln=30,r=8,p=1$${'A'.repeat(22)}$${hash}`,
    `$scrypt$ln=10,r=8,p=99$${'A'.repeat(22)}$${hash}`,
    `$argon2id$v=19$x$${hash}`,
  ]) {
    await t.rejects(passwords.verify('secret', stored), { message: /PHC string/u }, stored);
  }
});

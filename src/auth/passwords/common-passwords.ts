import { dictionary } from '@zxcvbn-ts/language-common';

/** The common passwords, in lower case. */
const commonPasswords: ReadonlySet<string> = new Set(dictionary['passwords-common']);

/** The reason why an attacker would try this password early (NIST SP 800-63B, 5.1.1.2); undefined if there is none. */
export function commonPasswordProblem(password: string, username: string): string | undefined {
  const text = password.normalize('NFC').toLowerCase();
  if (text === username.normalize('NFC').toLowerCase()) return 'must differ from the user name';
  return commonPasswords.has(text) ? 'is too common: choose another password' : undefined;
}

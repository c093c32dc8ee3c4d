import { dictionary } from '@zxcvbn-ts/language-common';

/** The common passwords, in lower case. */
const commonPasswords: ReadonlySet<string> = new Set(dictionary['passwords-common']);

/** Returns why the password is easy to guess (NIST SP 800-63B, 5.1.1.2); undefined for an acceptable password. */
export function commonPasswordProblem(password: string, username: string): string | undefined {
  const text = password.normalize('NFC').toLowerCase();
  if (text === username.normalize('NFC').toLowerCase()) return 'must differ from the user name';
  return commonPasswords.has(text) ? 'is too common: choose another password' : undefined;
}

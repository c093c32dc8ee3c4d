/** Characters that are easy to distinguish and available on every keyboard. */
const alphabet = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const length = 20;

/** Returns a random password of 20 characters (116 bits). */
export function generatePassword(): string {
  // Only bytes below the largest multiple of the alphabet's length are used. Otherwise the first characters of the
  // alphabet would be more frequent.
  const usable = 256 - (256 % alphabet.length);
  let password = '';
  while (password.length < length)
    for (const byte of crypto.getRandomValues(new Uint8Array(length)))
      if (byte < usable && password.length < length) password += alphabet.charAt(byte % alphabet.length);
  return password;
}

import { randomBytes } from 'node:crypto';
import { StringDecoder } from 'node:string_decoder';

import { typedSecretLengthMax } from '../limits/settings.ts';
import { interrupted, usageError } from './failure.ts';
import type { SecretInput, CommandContext } from './command-context.ts';

export type NewPasswordOptions = {
  readonly user: string;
  readonly generate: boolean;
};
type Asking = Pick<CommandContext, 'input' | 'stderr'>;

/** Returns a new password: generated, typed twice on a terminal, or the first line of standard input. */
export async function newPassword({ user, generate }: NewPasswordOptions, asking: Asking): Promise<string> {
  if (generate) return randomBytes(18).toString('base64url');
  const password = asking.input.isTTY === true ? await askTwice(user, asking) : await firstLine(asking.input);
  if (password === '')
    throw usageError('the password is empty: type a password, write it to standard input, or use --generate');
  return password;
}

/** Prompts on the terminal without echo, so that not even the length of the secret is visible. */
export async function askSecret(question: string, { input, stderr }: Asking): Promise<string> {
  stderr.write(question);
  input.setRawMode?.(true);
  try {
    return await typedLine(input);
  } finally {
    input.setRawMode?.(false);
    stderr.write('\n');
  }
}

async function askTwice(user: string, asking: Asking): Promise<string> {
  const password = await askSecret(`new password of ${JSON.stringify(user)}: `, asking);
  if (password !== '' && (await askSecret('new password again: ', asking)) !== password)
    throw usageError('the two passwords differ');
  return password;
}

/** Returns the first line of a pipe or a file, without the end of the line. */
async function firstLine(input: SecretInput): Promise<string> {
  const line = await read(
    input,
    (text) => text,
    (typed, character) => {
      if (character === '\n') return 'done';
      typed.push(character);
      return 'more';
    },
  );
  return line.replace(/\r$/u, '');
}

/**
 * Reads a line from a terminal in raw mode, in which the program itself must handle the keys for enter, erase and
 * interrupt.
 */
async function typedLine(input: SecretInput): Promise<string> {
  return read(
    input,
    (text) => text.replaceAll(escapeSequences, ''),
    (typed, character) => {
      if (character === '\r' || character === '\n') return 'done';
      if (character === '\u0003') return 'interrupted';
      if (character === '\u0004') return typed.length === 0 ? 'interrupted' : 'more';
      if (character === '\u007f' || character === '\b') typed.pop();
      else if (character === '\u0015') typed.length = 0;
      else if (character >= ' ') typed.push(character);
      return 'more';
    },
  );
}

type Keystroke = (typed: string[], character: string) => 'more' | 'done' | 'interrupted';

/** The escape sequences of arrow keys and similar keys, which would add invisible characters to the password. */
const escapeSequences = /\u001b(?:\[[\d;?]*[ -/]*[@-~]|O.)/gu;

/**
 * Reads characters until the end of the line or of the stream. `meant` returns a chunk of input without the characters
 * to ignore. `keystroke` adds a character to the text and decides whether the line ends. The input after the line is
 * kept for the next prompt.
 */
async function read(input: SecretInput, meant: (text: string) => string, keystroke: Keystroke): Promise<string> {
  const decoder = new StringDecoder('utf8');
  const typed: string[] = [];
  return new Promise((resolve, reject) => {
    const leave = (settle: () => void): void => {
      input.off('data', take).off('end', end).off('error', fail).pause();
      settle();
    };
    const take = (chunk: Buffer | string): void => {
      const characters = Array.from(meant(typeof chunk === 'string' ? chunk : decoder.write(chunk)));
      for (const [index, character] of characters.entries()) {
        const next = keystroke(typed, character);
        if (next === 'more' && typed.length <= typedSecretLengthMax) continue;
        const rest = characters.slice(index + 1).join('');
        leave(() => {
          if (rest !== '') input.unshift(Buffer.from(rest));
          if (next === 'done') resolve(typed.join(''));
          else
            reject(
              next === 'interrupted'
                ? interrupted()
                : usageError(`a password must have at most ${String(typedSecretLengthMax)} characters`),
            );
        });
        return;
      }
    };
    const end = (): void => {
      leave(() => {
        resolve(typed.join(''));
      });
    };
    const fail = (cause: Error): void => {
      leave(() => {
        reject(usageError(`standard input cannot be read: ${cause.message}`));
      });
    };
    if (input.readableEnded) resolve('');
    else input.on('data', take).on('end', end).on('error', fail).resume();
  });
}

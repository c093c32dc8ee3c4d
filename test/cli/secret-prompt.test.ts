import { PassThrough } from 'node:stream';

import { test } from 'tap';

import { askSecret, newPassword } from '../../src/cli/secret-prompt.ts';
import { typedSecretLengthMax } from '../../src/limits/settings.ts';
import { pipe, terminal } from '../support/server/command-run.ts';

function notes(): { write(text: string): unknown; text(): string } {
  let text = '';
  return {
    write: (more) => {
      text += more;
    },
    text: () => text,
  };
}

test('a secret is asked for without echo, and the terminal is put back', async (t) => {
  const { input, modes } = terminal('s3cret\r');
  const shown = notes();
  t.equal(await askSecret('password: ', { input, stderr: shown }), 's3cret');
  t.equal(shown.text(), 'password: \n', 'the question alone is shown');
  t.strictSame(modes, [true, false]);
  t.ok(input.isPaused(), 'it keeps no process waiting');
});

test('keys work as on a terminal', async (t) => {
  const keys: readonly (readonly [typed: string, read: string])[] = [
    ['abd\u007fc\r', 'abc'],
    ['ab\b\b\b\bc\n', 'c'],
    ['gone\u0015kept\r', 'kept'],
    ['a\u001b[A\u001b[1;5Cb\u001bOHc\r', 'abc'],
    ['a\u0004\u001a\tb\r', 'ab'],
    ['pässwörd 🔑\r', 'pässwörd 🔑'],
    ['🔑\u007fx\r', 'x'],
  ];
  for (const [typed, read] of keys)
    t.equal(await askSecret('?', { input: terminal(typed).input, stderr: notes() }), read, JSON.stringify(typed));
});

test('a character that comes in pieces is one', async (t) => {
  const { input } = terminal('');
  const asked = askSecret('?', { input, stderr: notes() });
  for (const byte of Buffer.from('é🔑\r')) input.push(Buffer.of(byte));
  t.equal(await asked, 'é🔑');
});

test('Ctrl-C and the end of input give up, and the terminal is put back', async (t) => {
  for (const key of ['\u0003', 'abc\u0003', '\u0004']) {
    const { input, modes } = terminal(key);
    await t.rejects(askSecret('?', { input, stderr: notes() }), { name: 'CommandFailure', exitCode: 130 });
    t.strictSame(modes, [true, false]);
  }
});

test('a password is asked for twice, also when both lines come at once', async (t) => {
  const shown = notes();
  t.equal(
    await newPassword({ user: 'bob', generate: false }, { input: terminal('one two\rone two\r').input, stderr: shown }),
    'one two',
  );
  t.equal(shown.text(), 'new password of "bob": \nnew password again: \n');
  await t.rejects(
    newPassword({ user: 'bob', generate: false }, { input: terminal('one\rother\r').input, stderr: notes() }),
    { message: 'the two passwords differ', exitCode: 2 },
  );
  await t.rejects(newPassword({ user: 'bob', generate: false }, { input: terminal('\r').input, stderr: notes() }), {
    name: 'CommandFailure',
    exitCode: 2,
  });
});

test('without a terminal it is one line of standard input, and nothing is asked', async (t) => {
  for (const [text, password] of [
    ['one two\nrest\n', 'one two'],
    ['no end', 'no end'],
    ['windows\r\n', 'windows'],
    ['a\tb\u001b[A\n', 'a\tb\u001b[A'],
  ] as const) {
    const shown = notes();
    t.equal(await newPassword({ user: 'bob', generate: false }, { input: pipe(text), stderr: shown }), password);
    t.equal(shown.text(), '');
  }
  for (const text of ['', '\n'])
    await t.rejects(newPassword({ user: 'bob', generate: false }, { input: pipe(text), stderr: notes() }), {
      name: 'CommandFailure',
      exitCode: 2,
    });
  const ended = new PassThrough();
  ended.resume().end();
  await new Promise((resolve) => {
    ended.once('end', resolve);
  });
  await t.rejects(newPassword({ user: 'bob', generate: false }, { input: ended, stderr: notes() }), {
    name: 'CommandFailure',
    exitCode: 2,
  });
});

test('what never ends is given up at its bound, and not repeated', async (t) => {
  const longest = 'x'.repeat(typedSecretLengthMax);
  t.equal(
    await newPassword({ user: 'bob', generate: false }, { input: pipe(`${longest}\n`), stderr: notes() }),
    longest,
  );
  const refused = await newPassword(
    { user: 'bob', generate: false },
    { input: pipe(`${longest}x\n`), stderr: notes() },
  ).catch((error: unknown) => String(error));
  t.match(refused, String(typedSecretLengthMax));
  t.notMatch(refused, 'xxx');
});

test('a drawn password is another one each time', async (t) => {
  const asking = { input: terminal('').input, stderr: notes() };
  const [one, other] = [
    await newPassword({ user: 'bob', generate: true }, asking),
    await newPassword({ user: 'bob', generate: true }, asking),
  ];
  t.match(one, /^[\w-]{24}$/u);
  t.not(one, other);
});

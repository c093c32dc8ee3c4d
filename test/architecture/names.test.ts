import { basename } from 'node:path';

import { test } from 'tap';

import { repository } from './repository.ts';
import { sourceFiles, textOf } from './source-files.ts';

/** A behaviour, the word that somebody looks for among file names, and the text by which its code is recognized. */
const guesses: readonly (readonly [behaviour: string, word: string, code: RegExp])[] = [
  ['the precondition If-Match', 'conditional', /headerOf\(req, 'if-match'\)/u],
  ['the protection against cross-site requests', 'csrf', /headerOf\(req, 'sec-fetch-site'\)/u],
  [
    'the removal of a finalizer',
    'finalizer',
    /finalizers\b.*\.filter\(|finalizers: null|function finalizerViolations/u,
  ],
  ['the parsing of sort', 'sort', /function parseSort\(/u],
  ['a bookmark', 'bookmark', /type: 'BOOKMARK'/u],
  ['the retry of an append', 'retrying', /function retryingLog\(/u],
  ['the unpacking of a zip', 'zip', /from 'yauzl'/u],
  ['the making of a 422', 'problem', /status: 422\b/u],
  ['the limit of log-ins', 'log-in-limit', /logInFailuresMax,/u],
  ['the aggregation of roles', 'role-aggregation', /\.aggregatesTo\.includes\(/u],
  ['the command user add', 'user-command', /function addUser\(/u],
  ['the metric of memory', 'memory-metric', /name: 'ledgerplane_stream_buffer_bytes'/u],
];

/** The client reads what the server writes. */
const files = sourceFiles(repository, /\.ts$/u).filter((path) =>
  /^(?:src(?!\/client)|projections|reconcilers)\//u.test(path),
);
const texts = files.map((path) => ({ path, text: textOf(repository, path) }));

for (const [behaviour, word, code] of guesses)
  test(`${behaviour} is in a file whose name contains "${word}"`, (t) => {
    const homes = texts.filter(({ text }) => code.test(text)).map(({ path }) => path);
    t.not(homes.length, 0, `a file matches ${String(code)}`);
    t.strictSame(
      homes.filter((path) => !basename(path).includes(word)),
      [],
      'no other file does',
    );
    t.end();
  });

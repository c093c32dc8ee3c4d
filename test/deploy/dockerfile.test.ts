import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { test } from 'tap';

import { decodeConfig } from '../../src/config/config.ts';
import { must } from '../../src/base/unreachable.ts';
import { repository } from '../architecture/repository.ts';
import { copiesOf, stages } from './dockerfile.ts';

/** The used part of Docker's reference of the Dockerfile. */
const instructionsKnown = new Set([
  'ARG',
  'CMD',
  'COPY',
  'ENTRYPOINT',
  'ENV',
  'EXPOSE',
  'HEALTHCHECK',
  'RUN',
  'USER',
  'VOLUME',
  'WORKDIR',
]);

test('its images are pinned, its instructions known, and it runs as nobody that matters', async (t) => {
  const [build, run, ...others] = await stages();
  t.same(others, []);
  for (const { image, instructions } of [must(build, 'a stage that builds'), must(run, 'a stage that runs')]) {
    t.match(image, /^node:24\.\d+\.\d+-bookworm-slim$/u, 'one version for good');
    for (const { name } of instructions) t.ok(instructionsKnown.has(name), name);
  }
  const { instructions } = must(run, 'a stage that runs');
  const textOf = (name: string): string =>
    must(
      instructions.find((instruction) => instruction.name === name),
      name,
    ).text;
  t.equal(textOf('USER'), 'node');
  const after = instructions.slice(instructions.findIndex(({ name }) => name === 'USER') + 1).map(({ name }) => name);
  t.notOk(
    after.some((name) => name === 'RUN' || name === 'COPY' || name === 'USER'),
    'nothing comes after it that would write',
  );
  for (const name of ['ENTRYPOINT', 'CMD'])
    t.ok(Array.isArray(JSON.parse(textOf(name))), `${name} needs no shell, so signals reach the server`);
  t.same(JSON.parse(textOf('ENTRYPOINT')), ['node', '/app/dist/src/main.js']);
  t.equal(textOf('VOLUME'), '/data');
  t.match(textOf('HEALTHCHECK'), /\/readyz/u);
  t.match(textOf('RUN'), /^npm ci --omit=dev /u);
});

test('its settings are ones that the server reads', async (t) => {
  const run = must((await stages())[1], 'a stage that runs');
  const env = Object.fromEntries(
    run.instructions
      .filter(({ name }) => name === 'ENV')
      .flatMap(({ text }) => text.split(' ').map((pair) => pair.split('=') as [string, string])),
  );
  const { NODE_ENV: mode, ...settings } = env;
  t.equal(mode, 'production');
  t.match(decodeConfig(settings, '/'), { ok: true, config: { host: '0.0.0.0', port: 8090, dataDir: '/data' } });
  t.same(
    Object.keys(settings).filter(
      (name) =>
        JSON.stringify(decodeConfig({ [name]: settings[name] }, '/anywhere')) ===
        JSON.stringify(decodeConfig({}, '/anywhere')),
    ),
    ['PORT'],
    'each does something; PORT says the default where the health check looks for it',
  );
});

test('copied files exist, pass .dockerignore, and are all that the server needs', async (t) => {
  const [build, run] = await stages();
  const allowed = (await readFile(join(repository, '.dockerignore'), 'utf8'))
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1));
  const own = [...copiesOf(must(build, 'build')), ...copiesOf(must(run, 'run'))]
    .filter(({ from }) => from === undefined)
    .flatMap(({ sources }) => sources);
  for (const path of own) {
    t.ok(existsSync(join(repository, path)), `${path} is there`);
    t.ok(allowed.includes(path), `${path} is not ignored`);
  }
  t.same(
    allowed.filter((path) => !own.includes(path)),
    [],
    'nothing gets in that is not copied',
  );
  const { files } = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8')) as {
    readonly files: readonly string[];
  };
  const targets = copiesOf(must(run, 'run')).map(({ target }) => target);
  for (const path of files) t.ok(targets.includes(path), `${path} is in the image`);
  for (const { from, sources, target } of copiesOf(must(run, 'run')).filter(({ from: stage }) => stage !== undefined)) {
    t.equal(from, build?.name);
    t.same(sources, [`/app/${target}`], 'from where it was built to where it is run');
  }
});

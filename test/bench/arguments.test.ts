import { test } from 'tap';

import { decodeArguments } from '../../bench/arguments.ts';

const run = { json: false, quick: false, profileDir: undefined };
const path = '/apis/example.com/v1alpha1/widgets';

test('measures are chosen by name', (t) => {
  t.strictSame(decodeArguments([]), { kind: 'measures', only: undefined, ...run });
  t.strictSame(decodeArguments(['--only', 'create,get-one', '--quick', '--json', '--cpu-prof', 'profiles']), {
    kind: 'measures',
    only: ['create', 'get-one'],
    json: true,
    quick: true,
    profileDir: 'profiles',
  });
  t.end();
});

test('another server has an address, a token, an authority and a collection', (t) => {
  const args = ['--against', 'https://kube:6443/', '--token', 't', '--ca', 'ca.pem', '--resource', path];
  const expected = { kind: 'against', url: 'https://kube:6443', token: 't', caFile: 'ca.pem', path, ...run };
  t.strictSame(decodeArguments(args), expected);
  t.strictSame(decodeArguments(['--definition', '--resource', '/apis/b.example/v1/namespaces/default/things']), {
    kind: 'definition',
    resource: { group: 'b.example', version: 'v1', plural: 'things', namespace: 'default' },
  });
  t.end();
});

test('a build is a folder or a commit, and the merge base by default', (t) => {
  t.strictSame(decodeArguments(['compare']), { kind: 'compare', build: undefined, ...run });
  t.strictSame(decodeArguments(['compare', '../earlier', '--quick']), {
    kind: 'compare',
    build: '../earlier',
    ...run,
    quick: true,
  });
  t.strictSame(decodeArguments(['--before', '../earlier']), { kind: 'compare', build: '../earlier', ...run });
  t.end();
});

test('wrong arguments are refused by name', (t) => {
  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [['compares'], /only command is "compare/u],
    [['compare', 'a', 'b'], /only command is "compare/u],
    [['compare', '--only', 'create'], /comparison does not take --only/u],
    [['--against', 'http://a', '--token', 't'], /--against needs --resource/u],
    [['--against', 'http://a', '--resource', path], /--against needs --token/u],
    [['--against', 'http://a', '--resource', path, '--token', ''], /--against needs --token/u],
    [['--against', 'kube', '--resource', path, '--token', 't'], /must be a http: or https: URL/u],
    [['--against', 'ftp://kube', '--resource', path, '--token', 't'], /must be a http: or https: URL/u],
    [['--against', 'http://a/api', '--resource', path, '--token', 't'], /without path/u],
    [['--against', 'http://a', '--resource', 'widgets', '--token', 't'], /not the path of a collection/u],
    [['--against', 'http://a', '--resource', '/apis/group/v1/things', '--token', 't'], /with a dot in the group/u],
    [['--against', 'http://a', '--resource', '/api/v1/pods', '--token', 't'], /not the path of a collection/u],
    [['--token', 't'], /does not take --token/u],
    [['--definition'], /--definition needs --resource/u],
    [['compare', 'x', '--before', 'y'], /give one of them/u],
  ];
  for (const [args, message] of wrong) t.throws(() => decodeArguments(args), { message }, args.join(' '));
  t.end();
});

import { test } from 'tap';

import { decodeManifest } from '../../src/plugin/load/manifest.ts';

const whole = 'apiVersion: plugin.${domain}/v1alpha1\nkind: Plugin\nmetadata: {name: x}\n';

function problemsOf(text: string): string {
  const decoded = decodeManifest(text, 'svc.run');
  return decoded.ok ? '' : decoded.problems.join('\n');
}

test('each violation of a manifest is reported with its place, the value and the accepted ones', async (t) => {
  const table: readonly (readonly [string, string | RegExp])[] = [
    [
      `${whole}spec: {version: 1.0}`,
      'spec.version: must be a semantic version like "1.2.0" (in quotes where YAML would read a number), is 1',
    ],
    [`${whole}spec: {requires: newest}`, 'spec.requires: must be a range of versions like ">=1.0.0", is "newest"'],
    [`${whole}spec: {enabled: "yes"}`, 'spec.enabled: must be true or false, is "yes"'],
    [
      `${whole}spec: {displayName: 3, main: 4}`,
      'spec.main: must be a path, is 4\nspec.displayName: must be of type string, is 3',
    ],
    [`${whole}spec: {author: 3}`, 'spec.author: must be of type object or string, is 3'],
    [`${whole}specs: {}`, 'spec: must be an object, is absent; did you mean "specs"?'],
    [`${whole}spec: {}\nstate: {}`, 'state: is not known; did you mean "status"?'],
    [`${whole}spec: {pluginDependency: {}}`, 'spec.pluginDependency: is not known; did you mean "pluginDependencies"?'],
    [
      `${whole.replace('name: x', 'name: x, lables: {}')}spec: {}`,
      'metadata.lables: is not known; did you mean "labels"?',
    ],
    [`${whole.replace('name: x', 'nmae: x')}spec: {}`, /metadata\.nmae: is not known; did you mean "name"\?/u],
    [`${whole.replace('Plugin', 'Plgin')}spec: {}`, 'kind: must be Plugin, is "Plgin"'],
    [`${whole}spec: {}\n---\n${whole}spec: {}`, 'must contain exactly one YAML document, contains 2'],
    ['- a', 'must contain an object, is ["a"]'],
    [`${whole}spec: {a: b`, /at line 4, column/u],
  ];
  for (const [text, problem] of table) {
    if (typeof problem === 'string') t.equal(problemsOf(text), problem);
    else t.match(problemsOf(text), problem);
  }
  t.equal(problemsOf(`${whole}spec: {anything: {else: [1]}}`), '', 'a manifest may say more than this version knows');
});

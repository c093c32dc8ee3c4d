import { manifestYaml, temporaryFolder, writePlugins } from '../../plugin/host/host-stage.ts';
import type { Test } from 'tap';

import { givenKubectl, type Kubectl } from './kubectl.ts';

/**
 * A plugin with one type that uses all features that kubectl supports. The type has no reconciler, so only the test
 * changes its objects.
 */
const main = `export default { types: [{
  group: 'kube.example', version: 'v1', kind: 'Gizmo', singular: 'gizmo', plural: 'gizmos',
  shortNames: ['gz'], categories: ['gadgets'],
  schema: {
    type: 'object',
    description: 'A gizmo of the tests.',
    properties: {
      spec: {
        type: 'object', required: ['size'], additionalProperties: false, description: 'The desired state.',
        properties: {
          size: { type: 'integer', minimum: 0, maximum: 100, description: 'How large it is.' },
          color: { type: 'string', description: 'Any color.' },
          replicas: { type: 'integer', minimum: 0 },
        },
      },
      status: {
        type: 'object',
        properties: {
          replicas: { type: 'integer' },
          phase: { type: 'string' },
          conditions: { type: 'array', items: { type: 'object' } },
        },
      },
    },
  },
  indexes: [{ name: 'spec.color' }, { name: 'spec.size', type: 'number' }],
  statusSubresource: true,
  scale: { specReplicas: '/spec/replicas', statusReplicas: '/status/replicas' },
  printerColumns: [
    { name: 'Size', type: 'integer', pointer: '/spec/size' },
    { name: 'Color', type: 'string', pointer: '/spec/color', priority: 1 },
  ],
}] };
`;

export async function givenGizmos(t: Test): Promise<Kubectl> {
  const root = await temporaryFolder(t);
  await writePlugins(root, { kube: { 'plugin.yaml': manifestYaml('kube', { main: 'main.mjs' }), 'main.mjs': main } });
  return givenKubectl(t, root);
}

export type Labels = Readonly<Record<string, string>>;

export function gizmo(name: string, size: unknown = 1, labels: Labels = {}, spec: object = {}): object {
  const metadata = Object.keys(labels).length === 0 ? { name } : { name, labels };
  return { apiVersion: 'kube.example/v1', kind: 'Gizmo', metadata, spec: { size, ...spec } };
}

/** Returns the path of one gizmo, or of all gizmos. */
export function gizmoPath(name?: string): string {
  return `/apis/kube.example/v1/gizmos${name === undefined ? '' : `/${name}`}`;
}

export type Step = {
  /** The arguments of kubectl. */
  readonly run: string;
  /** The expected standard output: the whole text, or a pattern in it. By default, nothing. */
  readonly out?: string | RegExp;
  /**
   * The expected lines of standard output in any order, with single blanks, and with `…` for each age. An empty last
   * column is omitted.
   */
  readonly rows?: readonly string[];
  /** The expected standard error: the whole text, or a pattern in it. By default, nothing. */
  readonly err?: string | RegExp;
  readonly code?: number;
  readonly input?: unknown;
};

/** Runs the steps in order. */
export async function runSteps(t: Test, { run }: Kubectl, steps: readonly Step[]): Promise<void> {
  for (const { run: args, rows, out = '', err = '', code = 0, input } of steps) {
    const printed = await run(args, input === undefined ? '' : JSON.stringify(input));
    const isAsSaid = (text: string, wanted: string | RegExp): boolean =>
      typeof wanted === 'string' ? text.trim() === wanted : wanted.test(text);
    const output = `${String(printed.code)}\n${printed.out}${printed.err}`;
    const isOut = rows === undefined ? isAsSaid(printed.out, out) : hasRows(printed.out, rows);
    t.ok(printed.code === code && isOut && isAsSaid(printed.err, err), `${args}\n${output}`);
  }
}

function hasRows(text: string, rows: readonly string[]): boolean {
  const lines = text
    .trim()
    .split('\n')
    .map((line) => line.trim().replaceAll(/\s+/gu, ' '))
    .map((line) => line.replace(/ (?:\d+m)?\d+s(?= |$)/u, ' …'));
  return [...lines].sort().join('\n') === [...rows].sort().join('\n');
}

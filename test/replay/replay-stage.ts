import type { TestServer } from '../support/server/start-server.ts';

export const replaysPath = '/apis/audit.svc.run/v1alpha1/replays';
export const diffsPath = '/apis/audit.svc.run/v1alpha1/diffs';
export const widgetsPath = '/apis/example.com/v1alpha1/widgets';
export const widgets = 'widgets.example.com';

export type Line = Readonly<Record<string, unknown>>;
export type Replayed = { readonly status: number; readonly lines: readonly Line[]; readonly last: Line };

/** A whole replay by HTTP, once the server has built its audit indexes after the start. */
export async function replay(server: TestServer, request: object = {}, path = replaysPath): Promise<Replayed> {
  const answer = await server.call(path, { method: 'POST', body: request });
  const text = await answer.text();
  if (answer.status === 503 && text.includes('audit indexes')) return replay(server, request, path);
  const lines = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
  return { status: answer.status, lines, last: lines.at(-1) ?? {} };
}

export function widget(name: string, spec: object = {}, metadata: object = {}): object {
  return {
    apiVersion: 'example.com/v1alpha1',
    kind: 'Widget',
    metadata: { name, ...metadata },
    spec: { title: 'a widget', size: 1, tags: ['a', 'b'], ...spec },
  };
}

/** Creates a widget; returns the position of its event. */
export async function create(server: TestServer, body: object): Promise<string> {
  const answer = await server.call(widgetsPath, { method: 'POST', body });
  if (answer.status !== 201) throw new Error(`${String(answer.status)} ${await answer.text()}`);
  return positionIn(await answer.json());
}

export function positionIn(object: unknown): string {
  return (object as { readonly metadata: { readonly resourceVersion: string } }).metadata.resourceVersion;
}

export function objectsIn({ lines }: Replayed): readonly unknown[] {
  return lines.filter(({ kind }) => kind === 'Object').map(({ object }) => object);
}

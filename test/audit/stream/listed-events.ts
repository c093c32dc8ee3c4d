import type { CallInit, TestServer } from '../../support/server/start-server.ts';

export const eventsPath = '/apis/audit.svc.run/v1alpha1/events';
export const widgetsPath = '/apis/example.com/v1alpha1/widgets';

export type Item = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
  readonly id: string;
  readonly event: string;
  readonly stream: string;
  readonly type: string;
  readonly name: string;
  readonly uid?: string;
  readonly position: string;
  readonly version: number;
  readonly time: string;
  readonly actor: string;
  readonly verb: string;
  readonly requestId: string;
  readonly address?: string;
  readonly cause?: string;
  readonly correlationId: string;
  readonly data?: unknown;
  readonly dataSha256?: string;
  readonly object?: { readonly metadata: { readonly name: string; readonly resourceVersion: string } };
  readonly change?: readonly { readonly op: string; readonly path: string }[];
};

export type EventPage = {
  readonly kind: string;
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly Item[];
};

/** The parameters of a list of events, `fieldSelector` as `where`. */
export type Wanted = Readonly<Record<string, string>>;

export function targetOf(wanted: Wanted): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(wanted)) query.set(name === 'where' ? 'fieldSelector' : name, value);
  return `${eventsPath}?${query.toString()}`;
}

export async function listEvents(
  server: Pick<TestServer, 'call'>,
  wanted: Wanted = {},
  init: CallInit = {},
): Promise<EventPage> {
  const answer = await server.call(targetOf(wanted), init);
  if (answer.status !== 200) throw new Error(`${String(answer.status)} ${await answer.text()}`);
  return (await answer.json()) as EventPage;
}

/** All pages of a chain, joined. */
export async function allEvents(
  server: Pick<TestServer, 'call'>,
  wanted: Wanted = {},
  init: CallInit = {},
): Promise<readonly Item[]> {
  const items: Item[] = [];
  for (let token: string | undefined = ''; token !== undefined;) {
    const { metadata, items: more }: EventPage = await listEvents(
      server,
      token === '' ? wanted : { ...wanted, continue: token },
      init,
    );
    items.push(...more);
    token = metadata.continue;
  }
  return items;
}

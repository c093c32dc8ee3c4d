import { setTimeout } from 'node:timers/promises';

import {
  defineRoute,
  escapeSelectorValue,
  type Client,
  type ControllerDeclaration,
  type ServerSentEvent,
} from 'ledgerplane/plugin';

import { link } from './link.ts';

const linksShown = 10;
const lookMs = 1_000;

/** GET /apis/api.links.example.com/v1alpha1/linkgroups/{name}/top streams the most clicked links of a group. */
export const topLinks: ControllerDeclaration = {
  apiVersion: 'api.links.example.com/v1alpha1',
  path: '/linkgroups',
  routes: [
    defineRoute({
      method: 'GET',
      path: '/{name}/top',
      summary: 'The most clicked links of a group, after each change',
      handler: ({ params: { name }, pluginClient, signal }) => ({ events: changesOf(name, pluginClient, signal) }),
    }),
  ],
};

/** Reads the list once a second, so that the cost of a stream does not depend on the number of clicks. */
async function* changesOf(name: string, client: Client, signal: AbortSignal): AsyncGenerator<ServerSentEvent> {
  let shown: string | undefined;
  for (;;) {
    const { items } = await client.list(link, {
      fieldSelector: [`spec.groupName=${escapeSelectorValue(name)}`, 'status.clicks>0'],
      sort: 'status.clicks,desc',
      page: 1,
      size: linksShown,
    });
    const top = items.map(({ spec: { slug }, status }) => ({ slug, clicks: status?.clicks }));
    const text = JSON.stringify(top);
    if (text !== shown) yield { event: 'top', data: top };
    shown = text;
    await setTimeout(lookMs, undefined, { signal });
  }
}

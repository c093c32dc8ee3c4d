import { ClientError, defineRoute, escapeSelectorValue, type ControllerDeclaration } from 'ledgerplane/plugin';

import type { ClickCounts } from './click-counts.ts';
import { link } from './link.ts';

/** GET /apis/api.links.example.com/v1alpha1/go/{slug} redirects to the link's address, and counts the click. */
export function redirects(counts: ClickCounts): ControllerDeclaration {
  return {
    apiVersion: 'api.links.example.com/v1alpha1',
    path: '/go',
    routes: [
      defineRoute({
        method: 'GET',
        path: '/{slug}',
        summary: 'Redirects to the address of a link',
        responses: {
          302: { description: 'The address, in the header Location' },
          410: { description: 'The link is deleted or no longer valid' },
        },
        handler: async ({ params: { slug }, pluginClient, time, log }) => {
          const { items } = await pluginClient.list(link, { fieldSelector: `spec.slug=${escapeSelectorValue(slug)}` });
          const [found] = items;
          if (found === undefined)
            throw new ClientError(`there is no link ${slug}`, { reason: 'NotFound', status: 404 });
          const { metadata, spec } = found;
          const now = Date.parse(time);
          if (spec.validFrom !== undefined && now < Date.parse(spec.validFrom))
            throw new ClientError(`the link ${slug} is not valid yet`, { reason: 'NotFound', status: 404 });
          const isOver = spec.validUntil !== undefined && now >= Date.parse(spec.validUntil);
          if (isOver || metadata.deletionTimestamp !== undefined)
            return { status: 410, body: { detail: `the link ${slug} is deleted or no longer valid` } };
          counts.add(metadata.name, { client: pluginClient, log });
          return { status: 302, headers: { location: spec.target, 'cache-control': 'no-store' } };
        },
      }),
    ],
  };
}

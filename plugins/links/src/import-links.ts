import { ClientError, defineRoute, type Client, type ControllerDeclaration, type FromSchema } from 'ledgerplane/plugin';

import { link } from './link.ts';

const atOnce = 8;

/**
 * The schema of a request, which checks only the slug of each link. The type Link checks the other members, so that one
 * invalid link does not make the whole import fail.
 */
const importBody = {
  type: 'object',
  required: ['groupName', 'links'],
  additionalProperties: false,
  properties: {
    groupName: { type: 'string', minLength: 1, maxLength: 253 },
    links: {
      type: 'array',
      maxItems: 500,
      items: { type: 'object', required: ['slug'], properties: { slug: { type: 'string', maxLength: 63 } } },
    },
  },
} as const;

type Import = FromSchema<typeof importBody>;
type Outcome = { readonly slug: string; readonly outcome: 'created' | 'exists' | 'refused'; readonly problem?: object };

/** POST /apis/api.links.example.com/v1alpha1/links/-/import creates links with the rights of the caller. */
export const importLinks: ControllerDeclaration = {
  apiVersion: 'api.links.example.com/v1alpha1',
  path: '/links',
  routes: [
    defineRoute({
      method: 'POST',
      path: '/-/import',
      summary: 'Creates many links, and reports the outcome of each',
      request: { body: importBody },
      handler: async ({ body: { groupName, links }, client, signal }) => {
        const outcomes: Outcome[] = [];
        for (let at = 0; at < links.length && !signal.aborted; at += atOnce)
          outcomes.push(
            ...(await Promise.all(
              links.slice(at, at + atOnce).map(async (each) => outcomeOf(client, groupName, each)),
            )),
          );
        const count = (wanted: Outcome['outcome']): number =>
          outcomes.filter(({ outcome }) => outcome === wanted).length;
        return {
          body: { created: count('created'), existing: count('exists'), refused: count('refused'), links: outcomes },
        };
      },
    }),
  ],
};

/** Uses the slug as the name of the new link, so that a repeated import reports `exists` for this link. */
async function outcomeOf(client: Client, groupName: string, spec: Import['links'][number]): Promise<Outcome> {
  const { slug } = spec;
  try {
    await client.create(link, { metadata: { name: slug }, spec: { ...spec, groupName } });
    return { slug, outcome: 'created' };
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    const { reason, status, message } = error;
    return reason === 'AlreadyExists'
      ? { slug, outcome: 'exists' }
      : { slug, outcome: 'refused', problem: { status, reason, message } };
  }
}

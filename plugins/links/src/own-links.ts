import { ownObjects } from 'ledgerplane/plugin';

import { link } from './link.ts';

/** /apis/uc.api.links.example.com/v1beta1/links: the links with the caller as their owner. */
export const ownLinks = ownObjects({
  type: link,
  apiVersion: 'uc.api.links.example.com/v1beta1',
  path: '/links',
  owner: 'owner',
});

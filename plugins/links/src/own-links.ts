import { ownObjects } from 'ledgerplane/plugin';

import { link } from './link.ts';

/** Declares the routes for the caller's own links, at /apis/uc.api.links.example.com/v1beta1/links. */
export const ownLinks = ownObjects({
  type: link,
  apiVersion: 'uc.api.links.example.com/v1beta1',
  path: '/links',
  owner: 'owner',
});

import { defineReconciler, escapeSelectorValue } from 'ledgerplane/plugin';

import { linkGroup } from './link-group.ts';
import { link, type Link } from './link.ts';

/** Writes the number of links in a group to the status of the group. */
export const countLinks = defineReconciler({
  name: 'count-links',
  type: linkGroup,
  watches: [{ type: link, names: ({ spec }: Link) => [spec.groupName] }],
  reconcile: async ({ object, pluginClient }) => {
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return;
    const { name, resourceVersion } = object.metadata;
    const { total: links } = await pluginClient.list(link, {
      fieldSelector: [`spec.groupName=${escapeSelectorValue(name)}`, '!metadata.deletionTimestamp'],
      page: 1,
      size: 1,
    });
    if (object.status?.links === links) return;
    await pluginClient.patchStatus(linkGroup, name, { status: { links } }, { resourceVersion });
  },
});

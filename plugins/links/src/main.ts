import { definePlugin } from 'ledgerplane/plugin';

import { ClickCounts } from './click-counts.ts';
import { countLinks } from './count-links.ts';
import { importLinks } from './import-links.ts';
import { linkGroup } from './link-group.ts';
import { link } from './link.ts';
import { migrations } from './migrations.ts';
import { ownLinks } from './own-links.ts';
import { redirects } from './redirects.ts';
import { retireLinks } from './retire-links.ts';
import { topLinks } from './top-links.ts';

const counts = new ClickCounts();

/** The plugin's module: `spec.main` of plugin.yaml names its compiled file. */
export default definePlugin({
  types: [linkGroup, link],
  controllers: [redirects(counts), importLinks, topLinks, ownLinks],
  reconcilers: [countLinks, retireLinks],
  migrations,
  stop: () => {
    counts.stop();
  },
});

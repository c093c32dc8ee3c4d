import type { NodeDescription } from '../../../src/read/operation/nodes.ts';

/** The description of a node in tests that do not depend on it. */
export const nodeAbout: NodeDescription = {
  host: 'node.example',
  version: '1.2.3',
  since: '2026-01-01T00:00:00.000Z',
  position: '0',
};

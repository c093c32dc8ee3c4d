import type { NodeProcess } from './node-process.ts';

/** As its own metrics say. */
export async function leads(node: NodeProcess): Promise<boolean> {
  return /^ledgerplane_leader 1$/mu.test((await node.ask('/metrics')).text);
}

/** The one that leads, and the other; waits until there is one. */
export async function ranked(
  nodes: readonly [NodeProcess, NodeProcess],
): Promise<readonly [leader: NodeProcess, other: NodeProcess]> {
  for (;;) {
    const [first, second] = await Promise.all(nodes.map(leads));
    if (first === true && second === true) throw new Error('both lead');
    if (first === true) return nodes;
    if (second === true) return [nodes[1], nodes[0]];
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
}

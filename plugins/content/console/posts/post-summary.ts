import type { TableRow } from '../listing/table.ts';
import { visibilities, type PostSummary } from './post.ts';

/** Returns a post as a row of a table has it. */
export function summaryOf({ metadata, cell }: TableRow): PostSummary {
  const text = (column: string): string | undefined => {
    const value = cell(column);
    return typeof value === 'string' ? value : undefined;
  };
  const comments = cell('Comments');
  return {
    metadata,
    spec: {
      title: text('Title') ?? metadata.name,
      owner: text('Owner'),
      publishTime: text('Published At'),
      publish: cell('Published') === true,
      submitted: cell('Submitted') === true,
      deleted: cell('Deleted') === true,
      pinned: cell('Pinned') === true,
      visible: visibilities.find((each) => each === cell('Visible')),
      tags: tagsIn(text('Tags') ?? ''),
    },
    ...(typeof comments === 'number' ? { status: { comments } } : {}),
  };
}

/** A cell has a list as JSON, which ends early if it is long. */
function tagsIn(cell: string): readonly string[] {
  return [...cell.matchAll(/"(?:[^"\\]|\\.)*"/gu)].map(([text]) => String(JSON.parse(text)));
}

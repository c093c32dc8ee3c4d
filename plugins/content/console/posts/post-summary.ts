import type { TableRow } from '../listing/table.ts';
import { visibilities, type PostSummary } from './post.ts';

/** Converts a row of a table to a post without texts. */
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

/** Returns the tags in a cell. The server truncates the JSON text of a long list, so only complete strings are read. */
function tagsIn(cell: string): readonly string[] {
  return [...cell.matchAll(/"(?:[^"\\]|\\.)*"/gu)].map(([text]) => String(JSON.parse(text)));
}

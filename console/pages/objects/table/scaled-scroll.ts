/**
 * The maximum height of the scrolled content in pixels. Browsers do not draw elements of more than about 33 million
 * pixels.
 */
const heightMax = 12_000_000;

export type ScrollState = {
  readonly total: number;
  readonly rowHeight: number;
  readonly viewport: number;
  readonly scrollTop: number;
};

export type DrawnRows = {
  /** The index of the first drawn row, and of the row after the last drawn row. */
  readonly first: number;
  readonly end: number;
  /** The index of the first visible row, and of the row after the last visible row. */
  readonly visibleFirst: number;
  readonly visibleEnd: number;
  /** The distance of the first drawn row from the top of the content, in pixels. */
  readonly offset: number;
  /** The height of the content, in pixels. */
  readonly height: number;
};

/** The number of rows that are drawn above and below the visible rows, so that fast scrolling shows no gap. */
const extraRows = 6;

/**
 * Returns the rows to draw. If the rows are higher than a browser can scroll, the scroll position is scaled, so that
 * its range covers all rows.
 */
export function drawnRows({ total, rowHeight, viewport, scrollTop }: ScrollState): DrawnRows {
  const full = total * rowHeight;
  const height = Math.min(full, heightMax);
  const range = height - viewport;
  const position = range <= 0 ? 0 : (Math.min(scrollTop, range) / range) * Math.max(0, full - viewport);
  const visibleFirst = Math.max(0, Math.floor(position / rowHeight));
  const visibleEnd = Math.min(total, Math.ceil((position + viewport) / rowHeight));
  const first = Math.max(0, visibleFirst - extraRows);
  const end = Math.min(total, visibleEnd + extraRows);
  const offset = Math.max(0, scrollTop - (position - first * rowHeight));
  return { first, end, visibleFirst, visibleEnd, offset, height };
}

/** Returns the scroll position at which a row is at the top. */
export function scrollTopOf(index: number, { total, rowHeight, viewport }: Omit<ScrollState, 'scrollTop'>): number {
  const full = total * rowHeight;
  const range = Math.min(full, heightMax) - viewport;
  return full <= viewport ? 0 : (Math.min(index * rowHeight, full - viewport) / (full - viewport)) * range;
}

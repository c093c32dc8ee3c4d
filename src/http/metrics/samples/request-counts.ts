/** The buckets of latencies: four for each doubling, from 0.1 ms to about 100 s. */
const bucketsPerDoubling = 4;
const bucketCount = 80;
const shortestMs = 0.1;

/** Counts responses by status, and their latencies since the last call of `takeLatencies`. */
export class RequestCounts {
  /** The number of responses, by status. */
  readonly byStatus: number[] = Array.from({ length: 600 }, () => 0);
  readonly #buckets = new Uint32Array(bucketCount);
  #measured = 0;

  /** Counts a response. `latencyMs` is undefined for a stream that lasts as long as its client wants. */
  answered(status: number, latencyMs: number | undefined): void {
    this.byStatus[status] = (this.byStatus[status] ?? 0) + 1;
    if (latencyMs === undefined) return;
    const bucket = Math.ceil(Math.log2(Math.max(latencyMs, shortestMs) / shortestMs) * bucketsPerDoubling);
    const place = Math.min(bucket, bucketCount - 1);
    this.#buckets[place] = (this.#buckets[place] ?? 0) + 1;
    this.#measured += 1;
  }

  /** Returns the number of responses with a status that begins with this digit. */
  ofClass(digit: number): number {
    let sum = 0;
    for (let status = digit * 100; status < digit * 100 + 100; status += 1) sum += this.byStatus[status] ?? 0;
    return sum;
  }

  /**
   * Returns the latencies since the last call in milliseconds: for each quantile, the upper bound of its bucket, which
   * is at most 19 % above the exact value; NaN without a request.
   */
  takeLatencies(quantiles: readonly number[]): readonly number[] {
    const latencies = quantiles.map((quantile) => this.#quantile(quantile));
    this.#buckets.fill(0);
    this.#measured = 0;
    return latencies;
  }

  #quantile(quantile: number): number {
    const rank = Math.max(1, Math.ceil(quantile * this.#measured));
    let passed = 0;
    for (const [bucket, count] of this.#buckets.entries()) {
      passed += count;
      if (passed >= rank) return shortestMs * 2 ** (bucket / bucketsPerDoubling);
    }
    return NaN;
  }
}

import type { RecordedEvent } from '../../src/log/log.ts';

/** The same events in fewer batches: each but the last one has `eventsMin` events, or `bytesMin` bytes. */
export async function* gathered(
  batches: AsyncIterable<readonly RecordedEvent[]>,
  { eventsMin, bytesMin }: { readonly eventsMin: number; readonly bytesMin: number },
): AsyncGenerator<readonly RecordedEvent[], undefined> {
  let [events, bytes]: [RecordedEvent[], number] = [[], 0];
  for await (const batch of batches) {
    for (const event of batch) {
      events.push(event);
      bytes += event.data.length + event.metadata.length;
    }
    if (events.length < eventsMin && bytes < bytesMin) continue;
    yield events;
    [events, bytes] = [[], 0];
  }
  if (events.length > 0) yield events;
}

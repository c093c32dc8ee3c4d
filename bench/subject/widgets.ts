import type { RequestTemplate } from '../load/template.ts';
import { headers } from './server.ts';

/** The path of the measured objects: Widgets of the example plugin, about 700 bytes in a response. */
export const widgetsPath = '/apis/example.com/v1alpha1/widgets';
export const widgetGroup = 'example.com';
export const tiers = ['gold', 'silver', 'bronze', 'copper', 'iron', 'tin', 'zinc', 'lead', 'nickel', 'chrome'];

/** Extends an object to a typical size, within the limits of the type. */
const description = 'A widget of the measured kind, as large as such objects are, with the number';
const tag = 'a-tag-of-some-length-as-people-do-write-them-now-and-then-when-nobody-looks';

export type WidgetPlaces = {
  readonly name: string;
  readonly size: string;
  readonly tier: string;
  readonly batch: string;
  readonly title?: string;
  readonly version?: string;
  readonly serial?: string;
};

/** Returns the JSON of a widget. Its members may contain the placeholders of a request template. */
export function widgetText({ name, size, tier, batch, title = name, version, serial }: WidgetPlaces): string {
  const metadata =
    `{"name":"${name}"${version === undefined ? '' : `,"version":${version}`},"labels":{"example.com/tier":"${tier}",` +
    '"example.com/batch":"a-batch-of-widgets-that-were-made-on-the-same-day-in-the-same-place-' +
    `and-by-the-same-people-of-the-b${batch}"}}`;
  const spec =
    `{"title":"${description} ${title}","size":${size},"tags":["${tag}-${tier}",` +
    `"${tag}-measured"]${serial === undefined ? '' : `,"serial":"${serial}"`}}`;
  return `{"apiVersion":"example.com/v1alpha1","kind":"Widget","metadata":${metadata},"spec":${spec}}`;
}

export function createRequest(prefix: string, options: { readonly serial?: boolean } = {}): RequestTemplate {
  const places = {
    name: `${prefix}-{n}`,
    size: '{m}',
    tier: 'gold',
    batch: '{c}',
    ...(options.serial === true ? { serial: `${prefix}-serial-{n}` } : {}),
  };
  return { method: 'POST', path: widgetsPath, headers, body: widgetText(places) };
}

import MarkdownIt, { type Token } from 'markdown-it';
import { h, type VNode, type VNodeArrayChildren } from 'vue';

import { imageAddress, linkAddress } from './safe-address.ts';

/** `html: false` shows HTML tags in the Markdown as text. */
const parser = new MarkdownIt({ html: false, linkify: true });

/** The maximum length of the rendered text in UTF-16 code units. A longer text would block the page. */
export const renderedLengthMax = 200_000;

/**
 * The elements by the parser's tag names. Headings are two levels lower: the page has an `h1`, and the title of the
 * post is an `h2`.
 */
const elements: Readonly<Record<string, string>> = {
  h1: 'h3',
  h2: 'h4',
  h3: 'h5',
  h4: 'h6',
  h5: 'h6',
  h6: 'h6',
  ...Object.fromEntries(
    ['p', 'ul', 'ol', 'li', 'blockquote', 'table', 'thead', 'tbody', 'tr', 'th', 'td', 'strong', 'em', 's'].map(
      (name) => [name, name],
    ),
  ),
};

type Open = { readonly token: Token; readonly children: (VNode | string)[] };

/**
 * Returns the nodes of a Markdown text. `base` is the address of the page, for relative addresses. A refused link
 * becomes its text, and a refused image becomes a link or its text.
 */
export function renderMarkdown(text: string, base: string): VNodeArrayChildren {
  return nodesOf(parser.parse(text.slice(0, renderedLengthMax), {}), base);
}

function nodesOf(tokens: readonly Token[], base: string): (VNode | string)[] {
  const whole: (VNode | string)[] = [];
  const open: Open[] = [];
  for (const token of tokens) {
    const children = open.at(-1)?.children ?? whole;
    if (token.nesting === 1) open.push({ token, children: [] });
    else if (token.nesting === 0) children.push(...leavesOf(token, base));
    else {
      const closed = open.pop();
      if (closed !== undefined) (open.at(-1)?.children ?? whole).push(...elementOf(closed, base));
    }
  }
  return whole;
}

function elementOf({ token, children }: Open, base: string): readonly (VNode | string)[] {
  // The parser marks the paragraphs of a list without blank lines as hidden, so they get no element.
  if (token.hidden) return children;
  if (token.type === 'link_open') return [linkOf(textOf(token, 'href'), children, base)];
  const name = elements[token.tag];
  if (name === undefined) return children;
  const start = token.tag === 'ol' ? token.attrGet('start') : null;
  const alignment = /^text-align:(left|center|right)$/u.exec(textOf(token, 'style'))?.[1];
  return [
    h(
      name,
      { ...(start === '' ? {} : { start }), ...(alignment === undefined ? {} : { class: `is-${alignment}` }) },
      children,
    ),
  ];
}

function leavesOf(token: Token, base: string): readonly (VNode | string)[] {
  switch (token.type) {
    case 'inline':
      return nodesOf(token.children ?? [], base);
    case 'code_inline':
      return [h('code', token.content)];
    case 'fence':
    case 'code_block':
      return [h('pre', [h('code', token.content)])];
    case 'hardbreak':
      return [h('br')];
    case 'softbreak':
      return ['\n'];
    case 'hr':
      return [h('hr')];
    case 'image':
      return [imageOf(token, base)];
    default:
      return [token.content];
  }
}

function linkOf(address: string, children: readonly (VNode | string)[], base: string): VNode {
  const href = linkAddress(address, base);
  if (href === undefined) return h('span', { class: 'refused', title: address }, [...children]);
  return h('a', { href, target: '_blank', rel: 'noopener noreferrer nofollow' }, [...children]);
}

function imageOf(token: Token, base: string): VNode {
  const { content } = token;
  const address = textOf(token, 'src');
  const src = imageAddress(address, base);
  if (src !== undefined) return h('img', { src, alt: content, loading: 'lazy' });
  return h('span', { class: 'no-image' }, [linkOf(address, [content === '' ? address : content], base)]);
}

function textOf(token: Token, attribute: string): string {
  return String(token.attrGet(attribute) ?? '');
}

import type { PluginLogLines } from '../../plugin/api/plugin-log-lines.ts';
import { bytesAnswer, refusal, type Answer } from '../answer.ts';
import type { PlatformRoute } from '../fixed-routes.ts';
import { problem } from '../problem.ts';
import { platformApiVersion } from './platform-type.ts';

export type PluginLogRoutesDependencies = {
  readonly domain: string;
  readonly logs: PluginLogLines;
  /** Returns whether this node has a plugin of this name. */
  readonly isPlugin: (name: string) => boolean;
};

/** Creates the route of a plugin's log lines on this node. The route requires the right `get` on `plugins/logs`. */
export function pluginLogRoutes({ domain, logs, isPlugin }: PluginLogRoutesDependencies): readonly PlatformRoute[] {
  return [
    {
      method: 'GET',
      path: `/apis/api.console.${domain}/${platformApiVersion}/plugins/{name}/logs`,
      route: ({ name = '' }, { query }) => {
        const after = query.getAll('after');
        if (after.length > 1) return refusal(problem('bad-request', 'after: the parameter must not be repeated'));
        const page = logs.read(name, after[0]);
        if (page === undefined && !isPlugin(name)) return refusal(problem('not-found', `plugins "${name}" not found`));
        return pageAnswer(page ?? { lines: [], cursor: '', dropped: 0 });
      },
    },
  ];
}

/** The lines are stored as JSON, and are joined without encoding. */
function pageAnswer({ lines, cursor, dropped }: NonNullable<ReturnType<PluginLogLines['read']>>): Answer {
  const head = `{"cursor":${JSON.stringify(cursor)},"dropped":${String(dropped)},"items":[`;
  const parts = lines.flatMap((line, index) => (index === 0 ? [line] : [comma, line]));
  return bytesAnswer(Buffer.concat([Buffer.from(head), ...parts, Buffer.from(']}')]));
}

const comma = Buffer.from(',');

import type { Command } from 'commander';

import type { CommandContext } from '../command-context.ts';
import type { FollowOptions } from './follow-events.ts';
import type { ListOptions } from './list-events.ts';

type Listing = {
  readonly context: CommandContext;
  /** Adds the options of commands that send requests to the server. */
  readonly connected: (command: Command) => Command;
};

/** Adds the commands `audit list` and `audit follow`. */
export function addEventCommands(audit: Command, { context, connected }: Listing): void {
  const selecting = (command: Command): Command =>
    connected(command)
      .option('--actor <name>', 'events by this actor alone: a user, plugin:<name> or system:<part>')
      .option('--by-user <name>', 'events by this user, and by plugins on behalf of this user')
      .option('--type <type>', 'events of this type alone: <plural>.<group>, or a category of streams, such as access')
      .option('--name <name>', 'events of objects with this name alone')
      .option('--uid <uid>', 'events of the object with this uid alone')
      .option('--verb <verb>', 'events of requests with this verb alone')
      .option('--address <address>', 'events of requests from this address alone')
      .option('--request-id <id>', 'the event that this request wrote')
      .option('--correlation <id>', 'all events that this request caused, including events of reconcilers')
      .option('--where <selector>', 'further conditions, as in a fieldSelector: event=ObjectDeleted,plugin=blog')
      .option('--output <form>', 'text, or json for JSON lines', 'text')
      .addHelpText(
        'after',
        '\nA line has the time and the position of the event. To list the event in "because of <id>", use\n' +
          '--where id=<id>.',
      );
  selecting(audit.command('list').description('print events of the whole log'))
    .option('--since <moment>', 'only events from this time (RFC 3339) or position on')
    .option('--until <moment>', 'only events up to this time (RFC 3339) or position')
    .option('--newest', 'print the newest event first')
    .option('--limit <count>', 'the maximum number of events', '20')
    .action(async (options: ListOptions) => {
      const { listEvents } = await import('./list-events.ts');
      await listEvents(options, context);
    });
  selecting(audit.command('follow').description('print events of the whole log as they are appended'))
    .option('--since <position>', 'begin with the events after this position of the log')
    .option('--limit <count>', 'end after this number of events')
    .action(async (options: FollowOptions) => {
      const { followEvents } = await import('./follow-events.ts');
      await followEvents(options, context);
    });
}

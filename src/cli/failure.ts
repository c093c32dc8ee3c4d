/** Ends a command with an error: `message` is printed to standard error, without a stack and without secrets. */
export class CommandFailure extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number) {
    super(message);
    this.name = 'CommandFailure';
    this.exitCode = exitCode;
  }
}

/** The server cannot be reached, or the connection ended within its answer. */
export class ConnectionFailure extends CommandFailure {
  constructor(message: string) {
    super(message, 1);
    this.name = 'ConnectionFailure';
  }
}

/** The server refused the request, with this status. */
export class RefusalFailure extends CommandFailure {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message, 1);
    this.name = 'RefusalFailure';
    this.status = status;
  }
}

/** The command line is invalid; nothing was sent. */
export function usageError(message: string): CommandFailure {
  return new CommandFailure(message, 2);
}

/** The server refused the request or is unreachable. */
export function commandError(message: string): CommandFailure {
  return new CommandFailure(message, 1);
}

/** The exit code of a shell command that Ctrl-C interrupted. */
export function interrupted(): CommandFailure {
  return new CommandFailure('interrupted', 130);
}

/** The log is unavailable or returned old data: the watch continues from its position later. */
export class LogSilentError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LogSilentError';
  }
}

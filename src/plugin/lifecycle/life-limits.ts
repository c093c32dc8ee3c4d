/** A load, index build or stop is reported in the status while it runs, if it takes longer than this time. */
export const slowStepMs = 500;
/** The interval of progress reports. */
export const progressReportMs = 1_000;
/** The time limit of a definition's `stop()`. The time limit of a start is the same. */
export const pluginStopMs = 10_000;
/** Files are read after no file has changed for this time, because an editor or a build writes several files. */
export const filesSettleMs = 200;
/** The polling interval for files. Polling is necessary because notifications miss changes on network drives. */
export const filesPollMs = 2_000;
/** The maximum number of scanned files of one plugin. Changes of further files do not reload the plugin. */
export const filesWatchedMax = 2_000;
/** The maximum number of watched folders of one plugin. Further folders are only polled. */
export const foldersWatchedMax = 64;
/** Files up to this size are compared by content, larger files by size and modification time. */
export const fileComparedBytesMax = 8_388_608;
/** The maximum number of `process` listeners that are recorded for one plugin. */
export const processListenersMax = 256;
/** The maximum number of types that are recorded for one plugin, including the types of earlier versions. */
export const typesRememberedMax = 256;
/** The number of object names in one batch, when a plugin's data is deleted or plugins are discovered. */
export const eraseBatchObjects = 64;
/** The delay before a plugin's removal or reconciliation is retried after a failure. */
export const eraseRetryMs = 5_000;
/** The time limit for reading a plugin's package from the log during the server's start. */
export const packageWaitMs = 2_000;
/** The time limit of the process that finds the line of a syntax error. */
export const syntaxCheckMs = 3_000;
/** The maximum number of files of a plugin that the process reads to find the line of a syntax error. */
export const syntaxCheckedFilesMax = 1_000;
/**
 * The time for which loaded plugins wait for slower plugins at the start. Types are thus registered in the order of
 * discovery.
 */
export const loadTogetherMs = 2_000;
/**
 * The maximum size of a source map, because a map is parsed in one turn. With a larger map, errors show the places in
 * the compiled file.
 */
export const sourceMapBytesMax = 524_288;
export const sourceMapsMax = 32;

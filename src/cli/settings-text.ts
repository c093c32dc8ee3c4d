/** What `help` says of the settings, below the commands. */
export const settingsText = `
Settings are environment variables, or lines of a .env file in the working directory:

  HOST                 address to listen on                              127.0.0.1
  PORT                 port to listen on; 0 takes a free one             8090
  ALLOWED_HOSTS        names that requests may have in Host, name or name:port
  DATA_DIR             folder of the log and the read models             ./data
  DISK_RESERVE         bytes left free of clients' writes, as 512MiB      5 % of the disk, at most 1 GiB
  EVENT_LOG            embedded: (in DATA_DIR), or an esdb://… URL        embedded:
  EVENTSTORE_PREFIX    how its streams' names begin on that EventStoreDB  ledgerplane-
  PLATFORM_DOMAIN      domain of the reserved groups and keys            svc.run
  PLUGINS_DIRS         folders of plugin folders, separated by commas
  PLUGINS_DISABLED     plugins that are not loaded, separated by commas
  TRUSTED_PROXIES      addresses and CIDR ranges of the proxies in front
  ADMIN_PASSWORD       password of admin, at the first start only        drawn, kept in DATA_DIR/admin-password
  LOG_LEVEL            trace, debug, info, warn, error, fatal or silent  info
  WRITES_PER_USER      writes that a user may do in a second; 0: any     100
  WRITE_BYTES_PER_USER bytes that a user may write in a second; 0: any   4194304
  TLS                  off                                               off
  OIDC_ISSUER          https address of an OpenID Connect issuer
  OIDC_AUDIENCE        audience that its tokens must name
  OIDC_USERNAME_CLAIM  claim that names the user, as oidc:<claim>        sub
  OIDC_JWKS_URL        where its keys are                                as the issuer says

Commands about a log open it themselves, while no server runs on it:

  LEDGERPLANE_COPY_FROM  log to copy, as EVENT_LOG or embedded:<DATA_DIR>; unless --from gives it
  LEDGERPLANE_COPY_TO    log to copy it into; unless --to gives it

Every other command asks a running server, and has settings of its own:

  LEDGERPLANE_SERVER    its address, unless --server gives it            http://HOST:PORT
  LEDGERPLANE_TOKEN     personal access token to show it
  LEDGERPLANE_PASSWORD  password of --user, asked for when it is not set

Without any of them the commands speak as admin, with the password in DATA_DIR/admin-password.`;

export const settingsText = `
Settings are environment variables, or lines of a .env file in the working directory:

  HOST                 address to listen on                              127.0.0.1
  PORT                 port to listen on; 0 selects a free port          8090
  ALLOWED_HOSTS        allowed values of the Host header, name or name:port
  PUBLIC_URL           URL at which browsers reach the server            the host of the request
  DATA_DIR             folder of the log and the read models             ./data
  DISK_RESERVE         free space that writes must leave, like 512MiB     5 % of the disk, at most 1 GiB
  BACKUP_DIR           folder for backups of the embedded log; without it, no backups
  EVENT_LOG            embedded: (in DATA_DIR), or an esdb://… URL        embedded:
  EVENTSTORE_PREFIX    prefix of stream names in EventStoreDB             ledgerplane-
  PLATFORM_DOMAIN      domain of the reserved groups and keys            svc.run
  PLUGINS_DIRS         folders of plugin folders, separated by commas
  PLUGINS_DISABLED     plugins that are not loaded, separated by commas
  TRUSTED_PROXIES      addresses and CIDR ranges of trusted reverse proxies
  ADMIN_PASSWORD       password of admin, at the first start only        random, in DATA_DIR/admin-password
  LOG_LEVEL            trace, debug, info, warn, error, fatal or silent  info
  CONSOLE              on: the web console is served at /console/; or off                   on
  ACCESS_EVENTS        on: log-ins, log-outs and refusals are events in the log; or off  on
  WRITES_PER_USER      writes per user and second; 0: no limit           100
  WRITE_BYTES_PER_USER bytes written per user and second; 0: no limit    4194304
  TLS                  off, auto (a certificate created in DATA_DIR/tls) or files  off
  TLS_CERT             PEM file of the certificate, with TLS=files
  TLS_KEY              PEM file of the private key, with TLS=files
  OIDC_ISSUER          https address of an OpenID Connect issuer
  OIDC_AUDIENCE        audience that bearer tokens must have
  OIDC_USERNAME_CLAIM  claim that names the user, as oidc:<claim>        sub
  OIDC_JWKS_URL        URL of the issuer's keys                          from the discovery document
  OIDC_CLIENT_ID       ID of this server at the issuer, for log-ins in a browser
  OIDC_CLIENT_SECRET   secret of this client; without it, a public client

Log commands open the log directly; no server may run on the log:

  LEDGERPLANE_COPY_FROM  source, like EVENT_LOG or embedded:<DATA_DIR>; --from overrides it
  LEDGERPLANE_COPY_TO    target; --to overrides it

audit verify, backup verify, restore, and plugin new, add, check and dev work on local files. All other commands send
requests to a running server, and have their own settings:

  LEDGERPLANE_SERVER    address of the server; --server overrides it     HOST and PORT
  LEDGERPLANE_CA        PEM file of the authority of the certificate      the file in DATA_DIR/tls
  LEDGERPLANE_TOKEN     personal access token
  LEDGERPLANE_PASSWORD  password of --user; if not set, commands prompt for the password

Without these settings, commands log in as admin with the password in DATA_DIR/admin-password.`;

import { z } from 'zod'
import { clickHouseSettings } from './clickhouse'
import { CrashAt } from './crash-at'
import { dollars, flag, optional, seconds, secondsOrNone, url, integer } from './fields'
import { identityProviderSettings } from './identity-provider'
import { samlSettings } from './saml'
import { journalSettings } from './journal'
import { Keys } from './keys'
import { Networks } from './networks'
import { paymentSettings } from './payments'
import { Ports } from './ports'
import { usableProcessors, usualWorkers } from './processors'
import { listSettings, setting } from './setting'
import { Sender, Smtp } from './smtp'
import { telemetrySettings } from './telemetry'
import { timeouts } from './timeouts'

const maxWorkers = 64
const Workers = z.preprocess(
  (value) => {
    const processors = usableProcessors()
    const workers = value === undefined ? usualWorkers(processors) : value
    return workers === 'auto' ? Math.min(maxWorkers, processors) : workers
  },
  integer(1, maxWorkers),
)
const megabyte = 1024 * 1024

const addresses = z.object({
  port: setting(integer(0, 65_535).default(8080), {
    name: 'PORT',
    doc: 'port to listen on; 0 for any free port',
  }),
  host: setting(
    z
      .string()
      .default('127.0.0.1')
      // URLs write IPv6 addresses in brackets.
      .transform((host) => host.replace(/^\[(.*)\]$/, '$1')),
    { name: 'HOST', doc: 'address to listen on; `0.0.0.0` for other machines' },
  ),
  /** Without a final slash; undefined until the port is known. */
  baseUrl: setting(
    url(/^https?$/)
      .optional()
      .transform((address) => address?.replace(/\/+$/, '')),
    {
      name: 'BASE_URL',
      doc: 'public address of the server: links in e-mails, checkouts, callbacks; with `https` cookies are `Secure`',
      unset: 'from the port',
    },
  ),
  trustedProxies: setting(Networks, {
    name: 'TRUSTED_PROXIES',
    doc: 'addresses and networks whose `X-Forwarded-For` is trusted: `10.0.0.0/8,fd00::1` ([deployment.md](deployment.md))',
  }),
  workers: setting(Workers, {
    name: 'WORKERS',
    doc: 'processes that share the port, up to 64, or `auto`: one for each processor ([scaling.md](scaling.md)). `--workers 4` does the same.',
    unset: '`auto` on Linux with four processors or more and the embedded database, else 1',
  }),
})

const storage = z.object({
  dataDir: setting(z.string().default('./data'), {
    name: 'DATA_DIR',
    doc: 'database, usage journal, keys; one process per directory',
  }),
  databaseUrl: setting(optional(url(/^postgres(ql)?$/)), {
    name: 'DATABASE_URL',
    doc: 'your own PostgreSQL 15 or later: `postgres://user:password@host:5432/name`; then `ENCRYPTION_KEY` is required',
    unset: 'embedded',
  }),
  databasePoolSize: setting(integer(2, 500).default(10), {
    name: 'DATABASE_POOL_SIZE',
    doc: 'connections to the database, 2 to 500 ([scaling.md](scaling.md))',
  }),
  redisUrl: setting(optional(url(/^rediss?$/)), {
    name: 'REDIS_URL',
    doc: "a Redis 6 or Valkey through which nodes share their limits and reach each other's self-hosted gateways: `redis://` or `rediss://`",
  }),
  limitStore: setting(z.enum(['memory', 'postgresql']).default('memory'), {
    name: 'LIMIT_STORE',
    doc: 'where a process without `REDIS_URL` counts rate limits: by itself, or with all nodes that share its PostgreSQL (`postgresql`), as workers always do ([limits.md](../concepts/limits.md#several-nodes))',
  }),
  clickHouse: clickHouseSettings,
  retentionDays: setting(integer(2, 3650).default(30), {
    name: 'RETENTION_DAYS',
    doc: 'number of full days for which usage events and request logs are kept, 2 to 3650',
  }),
  storeResponses: setting(z.enum(['always', 'asked', 'never']).default('always'), {
    name: 'STORE_RESPONSES',
    doc: 'which responses of `/v1/responses` are stored for their account, for `RETENTION_DAYS`: `always` all but those whose request has `store: false`, as at OpenAI, `asked` those with `store: true`, `never` none; then there are no conversations and no background responses either',
  }),
  ...journalSettings,
})

const access = z.object({
  adminKey: setting(optional(z.string().min(16, 'must have at least 16 characters')), {
    name: 'ADMIN_KEY',
    doc: 'the operator key, at least 16 characters',
    unset: 'created in `DATA_DIR`',
  }),
  /** The first key seals, all of them open. */
  encryptionKeys: setting(optional(Keys), {
    name: 'ENCRYPTION_KEY',
    doc: 'encrypts secrets in the database: 32 random bytes in base64 (`openssl rand -base64 32`); several as `<id>:<base64>,<id>:<base64>`, the first in use ([SECURITY.md](../../SECURITY.md))',
    unset: 'created in `DATA_DIR`',
  }),
  signUp: setting(z.enum(['open', 'invite', 'closed']).default('open'), {
    name: 'SIGNUP',
    doc: 'permitted sign-ups: `open` for everyone, `invite` for invited addresses, `closed` for no one',
  }),
  failedAuthenticationsPerMinute: setting(integer(1, 1_000_000).default(20), {
    name: 'FAILED_AUTHENTICATIONS_PER_MINUTE',
    doc: 'failed authentications from one client address; beyond that they get 429',
  }),
})

const money = z.object({
  minimumBalance: setting(dollars(0.1), {
    name: 'MINIMUM_BALANCE_USD',
    doc: 'below this balance paid requests are rejected',
  }),
  firstCredit: setting(dollars(100), {
    name: 'FIRST_CREDIT_USD',
    doc: "initial credit of the operator's own account; its own requests are not charged ([money.md](../concepts/money.md#who-pays))",
  }),
  messageCostLimit: setting(dollars(5), {
    name: 'MESSAGE_COST_LIMIT_USD',
    doc: 'a message of a session that has cost more runs no further tool ([automation.md](../concepts/automation.md#tools))',
  }),
  auditEveryMs: setting(seconds(60), {
    name: 'AUDIT_SECONDS',
    doc: 'how often one node checks the ledger',
  }),
  payments: paymentSettings,
})

const upstreams = z.object({
  breakerMs: setting(secondsOrNone(30), {
    name: 'BREAKER_SECONDS',
    doc: 'the longest time for which a circuit breaker is open, so that a failing connection is skipped; 0 disables circuit breakers ([resilience.md](resilience.md))',
  }),
  userEndpointPorts: setting(Ports, {
    name: 'USER_ENDPOINT_PORTS',
    doc: 'ports allowed in addresses that customers set: `443,8443`',
  }),
  gatewayHeartbeatMs: setting(
    // A row that was not refreshed for a minute counts as one of a node that is gone.
    z.coerce
      .number()
      .min(1)
      .max(40)
      .default(30)
      .transform((interval) => Math.round(interval * 1000)),
    {
      name: 'GATEWAY_HEARTBEAT_SECONDS',
      doc: 'heartbeat interval between a self-hosted gateway and Tollgate, 1 to 40; twice that in silence closes the socket (an agent gives up after two and a half times), a third of it is the timeout for the hello ([gateway-protocol.md](../contribute/gateway-protocol.md))',
    },
  ),
  localDiscovery: setting(flag(true), {
    name: 'LOCAL_DISCOVERY',
    doc: 'discover Ollama, vLLM, LM Studio and llama.cpp on this machine',
  }),
  sandbox: setting(flag(true), { name: 'SANDBOX', doc: 'enable the simulated provider' }),
  remoteUrls: setting(optional(z.enum(['passed', 'rejected'])), {
    name: 'REMOTE_URLS',
    doc: 'whether the servers of your connections get URLs of images and files that customers name, and fetch them: `passed` or `rejected`, unless the connection says otherwise by `options.remote_urls` ([providers.md](providers.md#urls-of-images-and-files))',
    unset:
      '`passed` to providers that Tollgate knows, `rejected` for other servers and in private networks',
  }),
  hidesCachedTokens: setting(flag(false), {
    name: 'HIDE_CACHED_TOKENS',
    doc: 'hide from customers how much of a prompt came from the cache of your connections, unless the connection says otherwise by `options.hide_cached_tokens` ([prompt-caching.md](../concepts/prompt-caching.md#accounts-that-share-a-credential))',
  }),
})

const overload = z.object({
  largeBodiesBytes: setting(
    integer(32, 65_536)
      .default(48)
      .transform((size) => size * megabyte),
    {
      name: 'LARGE_BODIES_MB',
      doc: 'memory for bodies of requests above 1 MB together until they are sent on, 32 to 65536; others wait ([resilience.md](resilience.md#overload-protection))',
    },
  ),
  uploadsBytes: setting(
    integer(64, 1_048_576)
      .default(2048)
      .transform((size) => size * megabyte),
    {
      name: 'UPLOADS_MB',
      doc: 'disk space in `DATA_DIR` for the files of running requests, such as sound to transcribe, 64 to 1048576; others wait ([resilience.md](resilience.md#overload-protection))',
    },
  ),
  maxRunning: setting(integer(0, 1_000_000).default(16_384), {
    name: 'MOST_RUNNING_REQUESTS',
    doc: 'concurrent requests to models; beyond that new ones are rejected with 503; 0 for no bound',
  }),
  maxLoopDelayMs: setting(z.coerce.number().min(0).max(60_000).default(500), {
    name: 'MOST_LOOP_DELAY_MS',
    doc: 'sustained delay of the event loop in milliseconds; beyond that a part of the new requests to models is rejected with 503; 0 for no bound',
  }),
  /** A share; 1 for all of the event loop. */
  ownerShare: setting(
    z.coerce
      .number()
      .min(1)
      .max(100)
      .default(15)
      .transform((percent) => percent / 100),
    {
      name: 'OWNER_CPU_PERCENT',
      doc: 'maximum share of the event loop for the streams and large bodies of one account while other accounts are active, 1 to 100; 100 for no bound ([resilience.md](resilience.md#fairness-between-accounts))',
    },
  ),
})

const alerts = z.object({
  alertEveryMs: setting(seconds(60), {
    name: 'ALERT_SECONDS',
    doc: 'how often one node evaluates alerts, balances and budgets; expiring keys are looked for a tenth as often ([alerts.md](../concepts/alerts.md))',
  }),
  smtp: z.object({
    server: setting(optional(Smtp), {
      name: 'SMTP_URL',
      doc: 'the mail server: `smtp://user:password@host:587` or `smtps://`; without it e-mails wait, and operators hand out sign-in links',
    }),
    sender: setting(optional(Sender), {
      name: 'MAIL_FROM',
      doc: 'sender of e-mails: `Tollgate <tollgate@example.com>`; required with `SMTP_URL`',
    }),
  }),
  mailEveryMs: setting(seconds(5), {
    name: 'MAIL_SECONDS',
    doc: 'how often a node looks for due e-mails',
  }),
})

const internal = z.object({
  /** The number of this worker, from 1; undefined for a single server and for the process that starts workers. */
  worker: setting(optional(integer(1, maxWorkers)), {
    name: 'TOLLGATE_WORKER',
    doc: 'number of a worker process; set by the launcher',
  }),
  crashAt: setting(optional(CrashAt), {
    name: 'CRASH_AT',
    doc: 'for tests: the point at which the process kills itself ([CONTRIBUTING.md](../../CONTRIBUTING.md))',
  }),
})

/** Every variable that Tollgate reads, except those of providers and of external sign-in, by subject. */
export const sections: readonly { title: string; settings: z.ZodObject }[] = [
  { title: 'Address and processes', settings: addresses },
  { title: 'Storage', settings: storage },
  { title: 'Keys and sign-up', settings: access },
  {
    title: 'Sign-in by an identity provider',
    settings: z.object({ identityProvider: identityProviderSettings, saml: samlSettings }),
  },
  { title: 'Money and payments', settings: money },
  { title: 'Timeouts', settings: timeouts },
  { title: 'Providers and gateways', settings: upstreams },
  { title: 'Overload protection', settings: overload },
  { title: 'Alerts and e-mail', settings: alerts },
  { title: 'Logs, metrics and traces', settings: z.object({ telemetry: telemetrySettings }) },
  { title: 'Internal', settings: internal },
]

/** All settings, in the shape of the configuration. */
export const Settings = z.object({
  ...addresses.shape,
  ...storage.shape,
  ...access.shape,
  ...money.shape,
  ...timeouts.shape,
  ...upstreams.shape,
  ...overload.shape,
  ...alerts.shape,
  ...internal.shape,
  identityProvider: identityProviderSettings,
  saml: samlSettings,
  telemetry: telemetrySettings,
})

/** The names of all variables that a setting comes from. */
export const variableNames: readonly string[] = listSettings(Settings).map(({ name }) => name)

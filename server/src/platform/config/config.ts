import { z } from 'zod'
import { getLocalUrl } from './address'
import { CrashAt } from './crash-at'
import { dollars, flag, seconds, secondsOrNone } from './fields'
import { gatewayVariables, toGatewayConfig, type GatewayConfig } from './gateways'
import { journalVariables, toJournalConfig, type JournalConfig } from './journal'
import { Keys, type NamedKey } from './keys'
import { loadVariables, toLoadConfig, type LoadConfig } from './load'
import { paymentVariables, toPaymentConfig, type PaymentConfig } from './payments'
import { Networks } from './networks'
import { Ports } from './ports'
import { telemetryVariables, toTelemetry, type TelemetryConfig } from './telemetry'
import { wordsOf } from './config-words'
import { toWorkerConfig, workerVariables, type WorkerConfig } from './workers'
import type { PlannedCrash } from '../crash-points'
import { mailVariables, senderAdvice, toMail, type MailConfig } from './smtp'

/** Every variable that Tollgate reads, except those of providers and of external sign-in. */
export const Environment = z.object({
  PORT: z.coerce.number().int().min(0).max(65_535).default(8080),
  HOST: z
    .string()
    // URLs write IPv6 addresses in brackets.
    .transform((host) => host.replace(/^\[(.*)\]$/, '$1'))
    .default('127.0.0.1'),
  BASE_URL: z.url({ protocol: /^https?$/ }).optional(),
  DATA_DIR: z.string().default('./data'),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
  ADMIN_KEY: z.string().min(16, 'must have at least 16 characters').optional(),
  ENCRYPTION_KEY: Keys.optional(),
  REQUEST_TIMEOUT_SECONDS: seconds(120),
  FIRST_BYTE_TIMEOUT_SECONDS: seconds(60),
  IDLE_TIMEOUT_SECONDS: seconds(45),
  STREAM_TIMEOUT_SECONDS: seconds(900),
  CONNECT_TIMEOUT_SECONDS: seconds(3),
  BREAKER_SECONDS: secondsOrNone(30),
  EARLY_HEADERS_SECONDS: seconds(15),
  KEEP_ALIVE_SECONDS: seconds(15),
  SLOW_CLIENT_SECONDS: seconds(30),
  DRAIN_SECONDS: seconds(120),
  UNREADY_SECONDS: secondsOrNone(0),
  DATABASE_GRACE_SECONDS: secondsOrNone(45),
  MINIMUM_BALANCE_USD: dollars(0.1),
  FIRST_CREDIT_USD: dollars(100),
  MESSAGE_COST_LIMIT_USD: dollars(5),
  AUDIT_SECONDS: seconds(60),
  ALERT_SECONDS: seconds(60),
  MAIL_SECONDS: seconds(5),
  ...mailVariables,
  RETENTION_DAYS: z.coerce.number().int().min(2).max(3650).default(30),
  ...journalVariables,
  ...gatewayVariables,
  ...loadVariables,
  REDIS_URL: z.url({ protocol: /^rediss?$/ }).optional(),
  FAILED_AUTHENTICATIONS_PER_MINUTE: z.coerce.number().int().min(1).max(1_000_000).default(20),
  DATABASE_POOL_SIZE: z.coerce.number().int().min(2).max(500).default(10),
  USER_ENDPOINT_PORTS: Ports,
  TRUSTED_PROXIES: Networks,
  SIGNUP: z.enum(['open', 'invite', 'closed']).default('open'),
  STORE_RESPONSES: z.enum(['always', 'asked', 'never']).default('asked'),
  LOCAL_DISCOVERY: flag(true),
  SANDBOX: flag(true),
  ...paymentVariables,
  CRASH_AT: CrashAt.optional(),
  ...telemetryVariables,
  ...workerVariables,
})

/** The timeouts of each part of a request, in milliseconds. Source: contract 3.4. */
export interface Timers {
  /** A whole request without streaming, all attempts together. */
  requestMs: number
  /** A stream until the first byte from the upstream. */
  firstByteMs: number
  /** A stream between two upstream events. */
  idleMs: number
  /** A whole stream. */
  streamMs: number
  /** Connecting to a provider, for each attempt. */
  connectMs: number
  /** The longest delay of a stream's headers while they wait for its first event. */
  earlyHeadersMs: number
  /** The idle time after which a stream gets a comment. */
  keepAliveMs: number
  /** A client that reads no byte for this long counts as disconnected. */
  slowClientMs: number
  /** The longest time that a stopping server gives running requests to finish. */
  drainMs: number
  /** The time before a shutdown in which the server reports not ready and still takes requests. */
  unreadyMs: number
  /** The longest database outage before a server reports not ready. */
  databaseGraceMs: number
}

/** The environment, parsed once. Times are milliseconds. */
export interface Config extends GatewayConfig, JournalConfig, LoadConfig, WorkerConfig {
  port: number
  host: string
  /** The address of this server for callers, without a final slash; undefined until the port is known. */
  baseUrl: string | undefined
  dataDir: string
  databaseUrl: string | undefined
  databasePoolSize: number
  /** Below this balance no paid request is admitted; nano-dollars. */
  minimumBalance: bigint
  /** The initial balance of the operator's own account; nano-dollars. */
  firstCredit: bigint
  /** Once one message of a session has cost more, the session runs no further tool; nano-dollars. */
  messageCostLimit: bigint
  /** The longest time that an open circuit breaker skips a connection, in milliseconds. */
  breakerMs: number
  /** The interval at which one node audits the ledger. */
  auditEveryMs: number
  /** The interval at which one node evaluates alerts and balances. */
  alertEveryMs: number
  mail: MailConfig | undefined
  /** The interval at which a node sends the mails that are due. */
  mailEveryMs: number
  /** The number of full days for which usage events are kept. */
  retentionDays: number
  /** The operator key; undefined if the data directory holds it. */
  adminKey: string | undefined
  /** The first key seals, all of them open; undefined if the data directory holds the key. */
  encryptionKeys: readonly NamedKey[] | undefined
  timers: Timers
  /** The Redis through which nodes share their limits; undefined to count in this process. */
  redisUrl: string | undefined
  /** Per client address; beyond it, requests are answered 429. */
  failedAuthenticationsPerMinute: number
  /** The ports that addresses set by users may name. */
  userEndpointPorts: readonly number[]
  /** Networks of the proxies whose `X-Forwarded-For` is trusted. */
  trustedProxies: readonly string[]
  payments: PaymentConfig
  /** The sign-up mode, until an operator sets another. */
  signUp: 'open' | 'invite' | 'closed'
  /** The answers of `/v1/responses` that are stored. */
  storeResponses: 'always' | 'asked' | 'never'
  localDiscovery: boolean
  sandbox: boolean
  telemetry: TelemetryConfig
  /** For tests: the point at which this process is killed. */
  crashAt: PlannedCrash | undefined
  /** The source of `<PROVIDER>_API_KEY` and `<PROVIDER>_BASE_URL`, which the provider registry reads by name. */
  environment: Source
}

/** The reason why the process cannot start: a setting, the data directory, the database. One line, with what to do. */
export class StartError extends Error {
  override readonly name = 'StartError'
}

export { readKeys, type NamedKey } from './keys'

type Source = Readonly<Record<string, string | undefined>>

/** Treats an empty variable as unset: compose files and shells write unset variables so. */
const present = (source: Source) =>
  Object.fromEntries(
    Object.entries(source).filter(([, value]) => value !== undefined && value !== ''),
  )

function parse<Shape extends z.ZodType>(schema: Shape, source: Source): z.output<Shape> {
  const parsed = schema.safeParse(present(source), { error: wordsOf })
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new StartError(`${issue?.path.join('.')}: ${issue?.message}`)
}

/** Requires keys with a shared database: nodes must not each generate their own. */
function requireKeys(env: { DATABASE_URL?: unknown; ENCRYPTION_KEY?: unknown }): void {
  if (!env.DATABASE_URL || env.ENCRYPTION_KEY) return
  throw new StartError(
    'ENCRYPTION_KEY is required with DATABASE_URL, and the same on every node: openssl rand -base64 32',
  )
}

/** Requires the webhook secret with Stripe: without its events payments would be taken and never credited. */
function requireStripeEvents(env: {
  STRIPE_SECRET_KEY?: unknown
  STRIPE_WEBHOOK_SECRET?: unknown
}): void {
  if (!env.STRIPE_SECRET_KEY || env.STRIPE_WEBHOOK_SECRET) return
  throw new StartError(
    'STRIPE_WEBHOOK_SECRET is required with STRIPE_SECRET_KEY: without it payments are taken and never credited',
  )
}

const place = { DATA_DIR: true, DATABASE_URL: true } as const
const Stored = Environment.pick({ ...place, ENCRYPTION_KEY: true, ADMIN_KEY: true })

/** Reads the settings of a command that only needs the database; a key may be missing. */
export function readDatabaseConfig(source: Source) {
  const { DATA_DIR: dataDir, DATABASE_URL: databaseUrl, ...keys } = parse(Stored, source)
  return { dataDir, databaseUrl, encryptionKeys: keys.ENCRYPTION_KEY, adminKey: keys.ADMIN_KEY }
}

/** Reads the settings of a command that works on the stored secrets. */
export function readStorageConfig(source: Source) {
  requireKeys(parse(Stored, source))
  return readDatabaseConfig(source)
}

const Linked = Environment.pick({ ...place, BASE_URL: true, HOST: true, PORT: true })

/** Reads the settings of a command that prints links: the database, and the server's public address. */
export function readLinkConfig(source: Source) {
  const env = parse(Linked, source)
  if (env.PORT === 0 && env.BASE_URL === undefined) {
    throw new StartError('PORT is 0, so that the address is not known. Set BASE_URL, or PORT.')
  }
  return {
    dataDir: env.DATA_DIR,
    databaseUrl: env.DATABASE_URL,
    address: env.BASE_URL?.replace(/\/+$/, '') ?? getLocalUrl(env.HOST, env.PORT),
  }
}

const requestTimes = { REQUEST_TIMEOUT_SECONDS: true, STREAM_TIMEOUT_SECONDS: true } as const
const Audited = Environment.pick({ ...place, ...requestTimes })

/** Reads the settings of the audit: the database, and the longest that a request may run. */
export function readAuditConfig(source: Source) {
  const env = parse(Audited, source)
  return {
    dataDir: env.DATA_DIR,
    databaseUrl: env.DATABASE_URL,
    longestRequestMs: Math.max(env.REQUEST_TIMEOUT_SECONDS, env.STREAM_TIMEOUT_SECONDS),
  }
}

/** Parses the environment. Throws `StartError`, naming the variable and its expected value. */
export function readConfig(source: Source): Config {
  const env = parse(Environment, source)
  requireKeys(env)
  if (env.SMTP_URL && !env.MAIL_FROM) {
    throw new StartError(`MAIL_FROM is required with SMTP_URL, and ${senderAdvice}`)
  }
  requireStripeEvents(env)
  return {
    port: env.PORT,
    host: env.HOST,
    baseUrl: env.BASE_URL?.replace(/\/+$/, ''),
    dataDir: env.DATA_DIR,
    databaseUrl: env.DATABASE_URL,
    databasePoolSize: env.DATABASE_POOL_SIZE,
    minimumBalance: env.MINIMUM_BALANCE_USD,
    firstCredit: env.FIRST_CREDIT_USD,
    messageCostLimit: env.MESSAGE_COST_LIMIT_USD,
    breakerMs: env.BREAKER_SECONDS,
    auditEveryMs: env.AUDIT_SECONDS,
    alertEveryMs: env.ALERT_SECONDS,
    mail: toMail(env),
    mailEveryMs: env.MAIL_SECONDS,
    retentionDays: env.RETENTION_DAYS,
    ...toJournalConfig(env),
    ...toWorkerConfig(env),
    ...toGatewayConfig(env),
    ...toLoadConfig(env),
    adminKey: env.ADMIN_KEY,
    encryptionKeys: env.ENCRYPTION_KEY,
    timers: toTimers(env),
    redisUrl: env.REDIS_URL,
    failedAuthenticationsPerMinute: env.FAILED_AUTHENTICATIONS_PER_MINUTE,
    userEndpointPorts: env.USER_ENDPOINT_PORTS,
    trustedProxies: env.TRUSTED_PROXIES,
    payments: toPaymentConfig(env),
    signUp: env.SIGNUP,
    storeResponses: env.STORE_RESPONSES,
    localDiscovery: env.LOCAL_DISCOVERY,
    sandbox: env.SANDBOX,
    telemetry: toTelemetry(env),
    crashAt: env.CRASH_AT,
    environment: present(source),
  }
}

const toTimers = (env: z.infer<typeof Environment>): Timers => ({
  requestMs: env.REQUEST_TIMEOUT_SECONDS,
  firstByteMs: env.FIRST_BYTE_TIMEOUT_SECONDS,
  idleMs: env.IDLE_TIMEOUT_SECONDS,
  streamMs: env.STREAM_TIMEOUT_SECONDS,
  connectMs: env.CONNECT_TIMEOUT_SECONDS,
  earlyHeadersMs: env.EARLY_HEADERS_SECONDS,
  keepAliveMs: env.KEEP_ALIVE_SECONDS,
  slowClientMs: env.SLOW_CLIENT_SECONDS,
  drainMs: env.DRAIN_SECONDS,
  unreadyMs: env.UNREADY_SECONDS,
  databaseGraceMs: env.DATABASE_GRACE_SECONDS,
})

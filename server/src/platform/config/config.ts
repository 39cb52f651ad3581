import type { z } from 'zod'
import { getLocalUrl } from './address'
import { minRecentDays } from './clickhouse'
import { formatIssue } from './config-words'
import {
  findIdentityProviderProblem,
  toIdentityProviderConfig,
  type IdentityProviderConfig,
} from './identity-provider'
import { findSamlProblem, toSamlConfig, type SamlConfig } from './saml'
import { arrangeValues, listSettings, type Source } from './setting'
import { Settings } from './settings'
import { senderAdvice, toMailConfig, type MailConfig } from './smtp'
import { toTelemetryConfig, type TelemetryConfig } from './telemetry'

type Values = z.output<typeof Settings>

/** The timeouts, in milliseconds. */
export type Timers = Values['timers']

/** The environment, parsed once. Times are milliseconds, amounts nano-dollars. */
export interface Config extends Omit<Values, 'smtp' | 'telemetry' | 'identityProvider' | 'saml'> {
  mail: MailConfig | undefined
  identityProvider: IdentityProviderConfig | undefined
  /** The identity provider over SAML, where there is none over OpenID Connect. */
  saml: SamlConfig | undefined
  telemetry: TelemetryConfig
  /** The source of `<PROVIDER>_API_KEY` and `<PROVIDER>_BASE_URL`, which the provider registry reads by name. */
  environment: Source
}

/** The reason why the process cannot start: a setting, the data directory, the database. One line, with what to do. */
export class StartError extends Error {
  override readonly name = 'StartError'
}

export { readKeys, type NamedKey } from './keys'

function parse<Schema extends z.ZodObject>(schema: Schema, source: Source): z.output<Schema> {
  const parsed = schema.safeParse(arrangeValues(schema, source), { error: formatIssue })
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const { name } = listSettings(schema).find(({ path }) => isPrefix(path, issue?.path)) ?? {}
  throw new StartError(`${name}: ${issue?.message}`)
}

const isPrefix = (path: readonly string[], of: readonly PropertyKey[] = []) =>
  path.every((key, at) => key === of[at])

/** Requires keys with a shared database: nodes must not each generate their own. */
function requireKeys({ databaseUrl, encryptionKeys }: Pick<Values, keyof typeof keyFields>): void {
  if (!databaseUrl || encryptionKeys) return
  throw new StartError(
    'ENCRYPTION_KEY is required with DATABASE_URL, and the same on every node: openssl rand -base64 32',
  )
}

/** Requires a sender with a mail server. */
function requireSender({ server, sender }: Values['smtp']): void {
  if (!server || sender) return
  throw new StartError(`MAIL_FROM is required with SMTP_URL, and ${senderAdvice}`)
}

/** Requires that logs stay in PostgreSQL for longer than the journal, from which a restore books them again. */
function requireRecentDays({
  clickHouse,
  journalKeptMs,
}: Pick<Values, 'clickHouse' | 'journalKeptMs'>): void {
  const days = minRecentDays(journalKeptMs)
  if (!clickHouse.address || clickHouse.recentDays >= days) return
  throw new StartError(
    `CLICKHOUSE_RECENT_DAYS: must be at least ${days}, a day more than JOURNAL_KEEP_HOURS`,
  )
}

/** Requires the webhook secret with Stripe: without its events payments would be taken and never credited. */
function requireStripeEvents({ secretKey, webhookSecrets }: Values['payments']): void {
  if (!secretKey || webhookSecrets) return
  throw new StartError(
    'STRIPE_WEBHOOK_SECRET is required with STRIPE_SECRET_KEY: without it payments are taken and never credited',
  )
}

/** Requires the client and the domains with an identity provider, and the other way round. */
function checkIdentityProvider({
  identityProvider,
  saml,
}: Pick<Values, 'identityProvider' | 'saml'>): void {
  const problem =
    findIdentityProviderProblem(identityProvider) ??
    findSamlProblem(saml, identityProvider.issuer !== undefined)
  if (problem) throw new StartError(problem)
}

const locationFields = { dataDir: true, databaseUrl: true } as const
const keyFields = { databaseUrl: true, encryptionKeys: true } as const
const Stored = Settings.pick({ ...locationFields, ...keyFields, adminKey: true })

/** Reads the settings of a command that only needs the database; a key may be missing. */
export const readDatabaseConfig = (source: Source) => parse(Stored, source)

/** Reads the settings of a command that works on the stored secrets. */
export function readStorageConfig(source: Source) {
  const config = parse(Stored, source)
  requireKeys(config)
  return config
}

const LinkSettings = Settings.pick({ ...locationFields, baseUrl: true, host: true, port: true })

/** Reads the settings of a command that prints links: the database, and the server's public address. */
export function readLinkConfig(source: Source) {
  const { baseUrl, host, port, ...database } = parse(LinkSettings, source)
  if (port === 0 && baseUrl === undefined) {
    throw new StartError('PORT is 0, so the address is unknown. Set BASE_URL or PORT.')
  }
  return { ...database, address: baseUrl ?? getLocalUrl(host, port) }
}

const AuditSettings = Settings.pick(locationFields).extend({
  timers: Settings.shape.timers.pick({ requestMs: true, streamMs: true }),
})

/** Reads the settings of the audit: the database, and the longest that a request may run. */
export function readAuditConfig(source: Source) {
  const { timers, ...database } = parse(AuditSettings, source)
  return { ...database, maxRequestMs: Math.max(timers.requestMs, timers.streamMs) }
}

/** Parses the environment. Throws `StartError`, naming the variable and its expected value. */
export function readConfig(source: Source): Config {
  const { smtp, telemetry, identityProvider, saml, ...values } = parse(Settings, source)
  requireKeys(values)
  requireSender(smtp)
  requireStripeEvents(values.payments)
  requireRecentDays(values)
  checkIdentityProvider({ identityProvider, saml })
  return {
    ...values,
    mail: toMailConfig(smtp),
    identityProvider: toIdentityProviderConfig(identityProvider),
    saml: toSamlConfig(saml),
    telemetry: toTelemetryConfig(telemetry),
    environment: withoutEmpty(source),
  }
}

const withoutEmpty = (source: Source): Source =>
  Object.fromEntries(Object.entries(source).filter(([, value]) => value))

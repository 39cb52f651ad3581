import type { Kysely } from 'kysely'
import { channels } from '../../alerts/alert'
import { CachedValue } from '../../platform/cached-value'
import { alertPeriods, alertTypes } from '../../platform/db/alert-schema'
import type { Schema } from '../../platform/db/schema'
import type { BrandingStore } from '../../platform/settings/branding'
import type { Settings } from '../../platform/settings/stored-settings'
import { toUsd } from '../../wire/usd'

const keepMs = 5000

export interface ConfigurationPorts {
  db: Kysely<Schema>
  settings: { readonly current: Settings }
  branding: BrandingStore
  version: string
  /** The public address of the service, where the operator configured one. */
  baseUrl: string | undefined
  /** OAuth providers that accounts can sign in with. */
  oauthProviders: string[]
  /** The identity provider that signs accounts in. */
  identityProvider: { name: string; protocol: 'oidc' | 'saml' } | null
  /** Whether a payment processor is configured. */
  takesPayments: boolean
  /** Whether a mail server is configured: without one, links to sign in come from operators only. */
  sendsMail: boolean
}

/** Source: contract 6.1. */
const alerts = {
  alert_types: [...alertTypes],
  alert_periods: [...alertPeriods],
  notification_channels: [...channels],
}

/** Configuration that a client may read without a key. Source: contract 9.1. */
export function createConfigurationView(ports: ConfigurationPorts) {
  const { db, settings, branding, version } = ports
  const plan = new CachedValue({
    read: () =>
      db
        .selectFrom('plan')
        .select(['requests_per_minute', 'tokens_per_minute', 'max_concurrent_requests'])
        .where('is_default', '=', true)
        .executeTakeFirst(),
    keepMs,
  })
  return {
    /** `origin` is the address at which the caller reached the service. */
    async get(origin: string) {
      const [{ name }, limits] = await Promise.all([branding.get(), plan.get()])
      const { current } = settings
      return {
        name,
        version,
        base_url: ports.baseUrl ?? origin,
        currency: 'USD' as const,
        minimum_balance: toUsd(current.minimumBalance),
        low_balance_threshold: toUsd(current.warningThreshold),
        auth: {
          password: true,
          oauth_providers: ports.oauthProviders,
          identity_provider: ports.identityProvider,
          sign_up: current.signUp,
        },
        features: {
          ...featuresOf(current),
          payments: ports.takesPayments,
          email: ports.sendsMail,
        },
        limits: {
          request_timeout_seconds: current.timers.requestMs / 1000,
          default_rpm: limits?.requests_per_minute ?? null,
          default_tpm: limits?.tokens_per_minute ?? null,
          default_concurrent: limits?.max_concurrent_requests ?? null,
        },
        ...alerts,
      }
    },
  }
}

export type ConfigurationView = ReturnType<typeof createConfigurationView>

const featuresOf = ({ platformConnections, logBodies }: Settings) => ({
  streaming: true,
  embeddings: true,
  messages: true,
  responses: true,
  idempotency: true,
  own_connections: true,
  organizations: true,
  model_collections: true,
  model_mappings: true,
  platform_connections: platformConnections,
  body_logging: logBodies,
})

import type { ChangedConfig } from './schema'
import { present } from '../../../http/fields'
import type { LiveSettings } from '../../../platform/settings/live-settings'
import type { Settings, SettingsChange } from '../../../platform/settings/settings'
import { toUsd } from '../../../wire/usd'

const toUnpriced = (unpriced: Settings['unpricedModels']) =>
  typeof unpriced === 'string'
    ? unpriced
    : { input: toUsd(unpriced.input), output: toUsd(unpriced.output) }

const toConfig = ({ rates, timers, ...settings }: Settings) => ({
  minimum_balance: toUsd(settings.minimumBalance),
  warning_threshold: toUsd(settings.warningThreshold),
  platform_fee_percent: settings.platformFeePercent,
  platform_connections: settings.platformConnections,
  owner_price_limits: {
    input: toUsd(settings.ownerPriceLimits.input),
    output: toUsd(settings.ownerPriceLimits.output),
  },
  unpriced_models: toUnpriced(settings.unpricedModels),
  catalog_public_key: settings.catalogPublicKey,
  sign_up: settings.signUp,
  log_bodies: settings.logBodies,
  unanswered_requests: settings.unansweredRequests,
  rates: {
    api_requests_per_minute: rates.apiRequestsPerMinute,
    public_requests_per_minute: rates.publicRequestsPerMinute,
    failed_authentications_per_minute: rates.failedAuthenticationsPerMinute,
    alert_tests_per_hour: rates.alertTestsPerHour,
    invitation_mails_per_day: rates.invitationMailsPerDay,
  },
  timers: {
    request_seconds: timers.requestMs / 1000,
    first_byte_seconds: timers.firstByteMs / 1000,
    idle_seconds: timers.idleMs / 1000,
    stream_seconds: timers.streamMs / 1000,
    connect_seconds: timers.connectMs / 1000,
  },
  retention_days: settings.retentionDays,
  allowed_return_origins: settings.allowedReturnOrigins,
  allowed_private_networks: settings.allowedPrivateNetworks,
})

const toMs = (seconds: number | undefined) =>
  seconds === undefined ? undefined : Math.round(seconds * 1000)

const toRates = (rates: NonNullable<ChangedConfig['rates']>) =>
  present({
    apiRequestsPerMinute: rates.api_requests_per_minute,
    publicRequestsPerMinute: rates.public_requests_per_minute,
    failedAuthenticationsPerMinute: rates.failed_authentications_per_minute,
    alertTestsPerHour: rates.alert_tests_per_hour,
    invitationMailsPerDay: rates.invitation_mails_per_day,
  })

const toTimers = (timers: NonNullable<ChangedConfig['timers']>) =>
  present({
    requestMs: toMs(timers.request_seconds),
    firstByteMs: toMs(timers.first_byte_seconds),
    idleMs: toMs(timers.idle_seconds),
    streamMs: toMs(timers.stream_seconds),
    connectMs: toMs(timers.connect_seconds),
  })

const toChange = ({ rates, timers, ...fields }: ChangedConfig): SettingsChange =>
  present({
    minimumBalance: fields.minimum_balance,
    warningThreshold: fields.warning_threshold,
    platformFeePercent: fields.platform_fee_percent,
    platformConnections: fields.platform_connections,
    ownerPriceLimits: fields.owner_price_limits && present(fields.owner_price_limits),
    unpricedModels: fields.unpriced_models,
    catalogPublicKey: fields.catalog_public_key,
    signUp: fields.sign_up,
    logBodies: fields.log_bodies,
    unansweredRequests: fields.unanswered_requests,
    rates: rates && toRates(rates),
    timers: timers && toTimers(timers),
    retentionDays: fields.retention_days,
    allowedReturnOrigins: fields.allowed_return_origins,
    allowedPrivateNetworks: fields.allowed_private_networks,
  })

export type ConfigStore = ReturnType<typeof createConfigStore>

/** The settings of the installation, for operators. */
export const createConfigStore = (settings: LiveSettings) => ({
  get: async () => toConfig(await settings.read()),
  change: async (fields: ChangedConfig) => toConfig(await settings.change(toChange(fields))),
})

import { constant, fromConfig, fromTimers, group, live } from './live-setting'
import {
  balance,
  count,
  days,
  flag,
  networks,
  oneOf,
  origins,
  percent,
  price,
  publicKey,
  seconds,
  storedMegabytes,
  unpriced,
} from './setting-kinds'
import type { Timers } from '../config/config'

const rate = (perTime: number, options: { field: string; doc: string }) =>
  live(count, { ...options, ...constant(perTime) })

const timer = (key: keyof Timers, options: { field: string; doc: string }) =>
  live(seconds, { ...options, ...fromTimers(key) })

/**
 * The settings that an operator can change while the servers run, each declared once: its name in the stored row and
 * in code, its values, default, public name and meaning. The row's schema, the API's schemas and the table of
 * docs/operate/configuration.md derive from it. Source: contract 9.2.
 */
export const liveSettings = {
  minimumBalance: live(balance, {
    field: 'minimum_balance',
    ...fromConfig('minimumBalance'),
    doc: 'below this balance paid requests are rejected',
  }),
  warningThreshold: live(balance, {
    field: 'warning_threshold',
    ...constant(1_000_000_000n),
    doc: 'accounts below this balance are notified',
  }),
  platformFeePercent: live(percent, {
    field: 'platform_fee_percent',
    ...constant(0),
    doc: "the platform's share of the price of a request whose provider is not paid by the platform; two decimals",
  }),
  platformConnections: live(flag, {
    field: 'platform_connections',
    ...constant(true),
    doc: 'enable platform connections',
  }),
  bareModelNames: live(flag, {
    field: 'bare_model_names',
    ...constant(false),
    doc: 'whether chat completions, completions, embeddings, moderations and rerank accept a model name without its provider, `gpt-4o` for `openai/gpt-4o`, where exactly one maker lists it ([routing.md](../concepts/routing.md#names-without-a-provider)); accounts may choose otherwise. `/v1/messages` and `/v1/responses` always do',
  }),
  /** For models of owners' connections. */
  ownerPriceLimits: group('owner_price_limits', {
    input: live(price, {
      field: 'input',
      ...constant(1_000_000_000_000n),
      doc: 'maximum price that owners of connections can charge for 1,000,000 input tokens of models that the catalogue does not have ([gateways.md](../concepts/gateways.md#what-its-models-cost)); at most 1,000,000; 0: they cannot set prices',
    }),
    output: live(price, {
      field: 'output',
      ...constant(1_000_000_000_000n),
      doc: 'the same for 1,000,000 output tokens of these models',
    }),
  }),
  /** On the platform's connections. */
  unpricedModels: live(unpriced, {
    field: 'unpriced_models',
    ...constant('refuse'),
    doc: 'what happens to models without a price on the platform\'s connections: `refuse`, `free`, or one price for all of them, `{"input": 10, "output": 50}` in USD for 1,000,000 tokens ([catalogue.md](../concepts/catalogue.md#models-without-a-price))',
  }),
  catalogPublicKey: live(publicKey, {
    field: 'catalog_public_key',
    ...constant(null),
    doc: 'the Ed25519 key, 32 bytes in base64, that signs catalogue documents ([catalogue.md](../concepts/catalogue.md#updating-the-catalogue-while-the-servers-run)); null: they need no signature',
  }),
  signUp: live(oneOf(['open', 'invite', 'closed']), {
    field: 'sign_up',
    ...fromConfig('signUp'),
    doc: 'who can sign up: `open` for everyone, `invite` for invited addresses, `closed` for no one',
  }),
  logBodies: live(flag, {
    field: 'log_bodies',
    ...constant(false),
    doc: 'allow accounts to store bodies in their request logs ([request-logs.md](../concepts/request-logs.md))',
  }),
  unansweredRequests: live(oneOf(['charge', 'waive']), {
    field: 'unanswered_requests',
    ...constant('charge'),
    doc: 'how to charge a request that was sent to a provider and got no answer, because its client disconnected or a timeout expired: `charge` what the provider bills, or `waive` it ([money.md](../concepts/money.md#requests-without-an-answer))',
  }),
  rates: group('rates', {
    apiRequestsPerMinute: rate(300, {
      field: 'api_requests_per_minute',
      doc: 'requests of an account to `/api`',
    }),
    publicRequestsPerMinute: rate(60, {
      field: 'public_requests_per_minute',
      doc: 'requests from a client address to `/api/public`',
    }),
    failedAuthenticationsPerMinute: live(count, {
      field: 'failed_authentications_per_minute',
      ...fromConfig('failedAuthenticationsPerMinute'),
      doc: 'failed authentications from a client address',
    }),
    alertTestsPerHour: rate(5, {
      field: 'alert_tests_per_hour',
      doc: 'alert tests of an account',
    }),
    invitationMailsPerDay: rate(20, {
      field: 'invitation_mails_per_day',
      doc: 'invitation e-mails of an account',
    }),
  }),
  /** Milliseconds. */
  timers: group('timers', {
    requestMs: timer('requestMs', {
      field: 'request_seconds',
      doc: 'timeout of a whole request without a stream, all attempts together',
    }),
    firstByteMs: timer('firstByteMs', {
      field: 'first_byte_seconds',
      doc: "timeout of a stream until the provider's first byte",
    }),
    idleMs: timer('idleMs', {
      field: 'idle_seconds',
      doc: 'timeout of a stream between two events or comments of the provider',
    }),
    streamMs: timer('streamMs', {
      field: 'stream_seconds',
      doc: 'timeout of a whole stream',
    }),
    connectMs: timer('connectMs', {
      field: 'connect_seconds',
      doc: 'timeout of connecting to a provider, for each attempt',
    }),
  }),
  retentionDays: live(days, {
    field: 'retention_days',
    ...fromConfig('retentionDays'),
    doc: 'for how many full days usage events, request logs, finished conversations, stored responses and closed invitations are kept',
  }),
  /** Read by the functions of migration 0054, which have the same default. */
  storedMegabytes: live(storedMegabytes, {
    field: 'stored_megabytes_per_account',
    ...constant(256),
    doc: 'MB that an account can have stored in the database, 128 to 1048576: responses, conversations, answers for repeats, logged bodies, sessions, prompts and tickets ([limits.md](../concepts/limits.md#stored-data))',
  }),
  allowedReturnOrigins: live(origins, {
    field: 'allowed_return_origins',
    ...constant([]),
    doc: 'origins that a checkout can return to, besides this service: `https://app.example.com`',
  }),
  allowedPrivateNetworks: live(networks, {
    field: 'allowed_private_networks',
    ...constant([]),
    doc: 'networks such as `10.1.0.0/16` that addresses set by customers can reach, over https and at `USER_ENDPOINT_PORTS`',
  }),
}

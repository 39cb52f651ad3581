import { invoiceSettings } from './invoice-settings'
import { constant, fromConfig, fromTimers, group, live } from './live-setting'
import {
  balance,
  count,
  days,
  flag,
  months,
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

type Labelled = { field: string; label: string; doc: string }

const rate = (perTime: number, options: Labelled) =>
  live(count, { ...options, ...constant(perTime) })

const timer = (key: keyof Timers, options: Labelled) =>
  live(seconds, { ...options, ...fromTimers(key) })

/**
 * The settings that an operator can change while the servers run, each declared once: its name in the stored row and
 * in code, its values, default, public name and meaning. The row's schema, the API's schemas and the table of
 * docs/operate/configuration.md derive from it. Source: contract 9.2.
 */
export const liveSettings = {
  minimumBalance: live(balance, {
    field: 'minimum_balance',
    label: 'Minimum balance',
    section: 'Money',
    ...fromConfig('minimumBalance'),
    doc: 'below this balance paid requests are rejected',
  }),
  warningThreshold: live(balance, {
    field: 'warning_threshold',
    label: 'Low balance warning',
    section: 'Money',
    ...constant(1_000_000_000n),
    doc: 'accounts below this balance are notified',
  }),
  platformFeePercent: live(percent, {
    field: 'platform_fee_percent',
    label: 'Platform fee',
    section: 'Money',
    ...constant(0),
    doc: "the platform's share of the price of a request whose provider is not paid by the platform; two decimals",
  }),
  platformConnections: live(flag, {
    field: 'platform_connections',
    label: 'Platform connections are available to all accounts',
    section: 'Access',
    ...constant(true),
    doc: 'whether platform connections are available; without them, accounts can use only their own connections and those of their organizations',
  }),
  bareModelNames: live(flag, {
    field: 'bare_model_names',
    label: 'Model names need no provider',
    section: 'Access',
    ...constant(false),
    doc: 'whether chat completions, completions, embeddings, moderations, rerank, speech and images accept a model name without its provider, `gpt-4o` for `openai/gpt-4o`, where exactly one maker lists it ([routing.md](../concepts/routing.md#names-without-a-provider)); accounts may choose otherwise. `/v1/messages` and `/v1/responses` always do',
  }),
  /** For models of owners' connections. */
  ownerPriceLimits: group(
    { field: 'owner_price_limits', section: 'Money' },
    {
      input: live(price, {
        field: 'input',
        label: 'Maximum input price',
        ...constant(1_000_000_000_000n),
        doc: 'maximum price that owners of connections can charge for 1,000,000 input tokens of models that the catalogue does not have ([gateways.md](../concepts/gateways.md#what-its-models-cost)); at most 1,000,000; 0: they cannot set prices',
      }),
      output: live(price, {
        field: 'output',
        label: 'Maximum output price',
        ...constant(1_000_000_000_000n),
        doc: 'the same for 1,000,000 output tokens of these models',
      }),
    },
  ),
  /** On the platform's connections. */
  unpricedModels: live(unpriced, {
    field: 'unpriced_models',
    label: 'Models without a price',
    section: 'Money',
    ...constant('refuse'),
    doc: 'handling of models without a price on the platform\'s connections: `refuse`, `free`, or one price for all of them, `{"input": 10, "output": 50}` in USD for 1,000,000 tokens ([catalogue.md](../concepts/catalogue.md#models-without-a-price))',
  }),
  /** The seller of invoices, and their numbers. */
  invoices: invoiceSettings,
  catalogPublicKey: live(publicKey, {
    field: 'catalog_public_key',
    label: 'Signing key of catalogue documents',
    section: 'Catalogue',
    ...constant(null),
    doc: 'the Ed25519 key, 32 bytes in base64, that signs catalogue documents ([catalogue.md](../concepts/catalogue.md#updating-the-catalogue-while-the-servers-run)); without one they need no signature',
  }),
  signUp: live(oneOf(['open', 'invite', 'closed']), {
    field: 'sign_up',
    label: 'Sign-up',
    section: 'Access',
    ...fromConfig('signUp'),
    doc: 'permitted sign-ups: `open` for everyone, `invite` for invited addresses, `closed` for no one; operators can always create accounts',
  }),
  logBodies: live(flag, {
    field: 'log_bodies',
    label: 'Allow accounts to store request and response bodies',
    section: 'Data retention',
    ...constant(false),
    doc: 'whether accounts can store bodies in their request logs; each account decides ([request-logs.md](../concepts/request-logs.md))',
  }),
  unansweredRequests: live(oneOf(['charge', 'waive']), {
    field: 'unanswered_requests',
    label: 'Client disconnect or timeout after the request was sent to the provider',
    section: 'Unanswered requests',
    ...constant('charge'),
    doc: 'charge for a request that was sent to a provider and not answered, because its client disconnected or a timeout expired: `charge` the amount that the provider bills, or `waive` it ([money.md](../concepts/money.md#requests-without-an-answer))',
  }),
  rates: group(
    { field: 'rates', section: 'Rate limits' },
    {
      apiRequestsPerMinute: rate(300, {
        field: 'api_requests_per_minute',
        label: 'Requests to /api',
        doc: 'requests of an account to `/api`, per minute',
      }),
      publicRequestsPerMinute: rate(60, {
        field: 'public_requests_per_minute',
        label: 'Requests to /api/public',
        doc: 'requests from a client address to `/api/public`, per minute',
      }),
      failedAuthenticationsPerMinute: live(count, {
        field: 'failed_authentications_per_minute',
        label: 'Invalid API keys',
        ...fromConfig('failedAuthenticationsPerMinute'),
        doc: 'failed authentications from a client address, per minute; beyond this, its requests are rejected for a while',
      }),
      alertTestsPerHour: rate(5, {
        field: 'alert_tests_per_hour',
        label: 'Alert tests',
        doc: 'alert tests of an account, per hour',
      }),
      invitationMailsPerDay: rate(20, {
        field: 'invitation_mails_per_day',
        label: 'Invitation emails',
        doc: 'invitation e-mails of an account, per day',
      }),
    },
  ),
  /** Milliseconds. */
  timers: group(
    { field: 'timers', section: 'Timeouts' },
    {
      requestMs: timer('requestMs', {
        field: 'request_seconds',
        label: 'Non-streaming request',
        doc: 'timeout of a whole request without a stream, all attempts together',
      }),
      firstByteMs: timer('firstByteMs', {
        field: 'first_byte_seconds',
        label: 'First byte of a stream',
        doc: "timeout of a stream until the provider's first byte",
      }),
      idleMs: timer('idleMs', {
        field: 'idle_seconds',
        label: 'Idle stream',
        doc: 'timeout of a stream between two events or comments of the provider',
      }),
      streamMs: timer('streamMs', {
        field: 'stream_seconds',
        label: 'Entire stream',
        doc: 'timeout of a whole stream',
      }),
      connectMs: timer('connectMs', {
        field: 'connect_seconds',
        label: 'Connect',
        doc: 'timeout of connecting to a provider, for each attempt',
      }),
    },
  ),
  retentionDays: live(days, {
    field: 'retention_days',
    label: 'Retention of usage and request logs, in days',
    section: 'Data retention',
    ...fromConfig('retentionDays'),
    doc: 'number of full days for which usage events, request logs, finished conversations, stored responses and closed invitations are kept; the ledger is kept without limit',
  }),
  /** Read by a function of migration 0082, which has the same default. */
  auditRetentionMonths: live(months, {
    field: 'audit_retention_months',
    label: 'Retention of audit logs of organizations, in months',
    section: 'Data retention',
    ...constant(25),
    doc: 'months for which the audit logs of organizations are kept, 3 to 120, where an organization sets no other number; the audit log of operators is kept without limit ([audit-trail.md](audit-trail.md#retention))',
  }),
  /** Read by the functions of migration 0054, which have the same default. */
  storedMegabytes: live(storedMegabytes, {
    field: 'stored_megabytes_per_account',
    label: 'Stored data per account, in MB',
    section: 'Data retention',
    ...constant(256),
    doc: 'MB that an account can have stored in the database, 128 to 1048576: responses, conversations, answers for repeats, logged bodies, sessions, prompts and tickets; the oldest responses and conversations make room ([limits.md](../concepts/limits.md#stored-data))',
  }),
  allowedReturnOrigins: live(origins, {
    field: 'allowed_return_origins',
    label: 'Allowed checkout return origins',
    section: 'Addresses',
    ...constant([]),
    doc: 'origins that a checkout can return to, besides this service: `https://app.example.com`',
  }),
  allowedPrivateNetworks: live(networks, {
    field: 'allowed_private_networks',
    label: "Private networks allowed for customers' connections",
    section: 'Addresses',
    ...constant([]),
    doc: 'networks such as `10.1.0.0/16` that addresses set by customers can reach, over https and at `USER_ENDPOINT_PORTS`; every account that can add connections can reach them',
  }),
}

import { version } from '../../../package.json'
import type { AccessClass } from '../access'

/** Conventions of all operations; docs/guides/api.md has more of them. */
const conventions = [
  'A gateway to language models. Existing OpenAI clients work with `{base_url}/v1` and a Tollgate key, Anthropic clients with `{base_url}`.',
  '**Errors** are `{error: {type, code, message, param, details}}`: act on `code`. Retry after the time in `Retry-After`, and never with `x-should-retry: false`.',
  '**Lists** have `pagination`: request the next page with `cursor` set to its `next_cursor`.',
  '**IDs** of objects of other accounts are unknown IDs: 404. **Money** is USD as a number with up to 9 decimals; prices are per 1,000,000 tokens. **Times** are ISO 8601 in UTC.',
  '**Response headers**: `x-request-id`, `X-RateLimit-Limit`, `X-RateLimit-Remaining`, `X-RateLimit-Reset`; for models also `x-tollgate-cost`, `x-tollgate-provider` and, where `max_tokens` of a message was lowered to the maximum of the model, `x-tollgate-max-tokens`. An `Idempotency-Key` makes repeating a POST of `/v1` safe for 24 hours.',
].join('\n\n')

const operatorConventions = [
  'Endpoints below `/api/admin`. Callers that are not operators receive 404, operators whose role does not suffice 403 `insufficient_permissions` with the roles that do. Errors, lists, IDs, money and times are as in the [public description](/docs).',
  'The audit log records every change, and every export of an account.',
].join('\n\n')

const common = {
  openapi: '3.1.0',
  servers: [{ url: '/', description: 'The server of this description' }],
}
const license = { name: 'Apache-2.0', identifier: 'Apache-2.0' }

/** The two descriptions. */
export type Audience = 'public' | 'operator'

/** A description apart from its operations. */
interface Interface {
  /** The access classes of its operations. */
  classes: readonly AccessClass[]
  description: object
  securitySchemes: Record<string, object>
  tags: { name: string; description: string }[]
}

/** The descriptions apart from their operations. */
export const interfaces: Readonly<Record<Audience, Interface>> = {
  public: {
    classes: ['models', 'api', 'public'],
    description: {
      ...common,
      info: { title: 'Tollgate', version, description: conventions, license },
      security: [{ apiKey: [] }],
    },
    securitySchemes: {
      apiKey: {
        type: 'http',
        scheme: 'bearer',
        description:
          'A service key, `sk-tg-...`; below `/v1` also as `x-api-key`. The first start writes one to `first-key` in its data directory.',
      },
    },
    tags: [
      { name: 'Models', description: 'The wire formats of OpenAI and Anthropic' },
      { name: 'Model mappings', description: 'Aliases of models' },
      { name: 'Model collections', description: 'Several models under one name' },
      { name: 'Settings', description: 'Settings of your account' },
      { name: 'Handle', description: 'A name for your own connections' },
      { name: 'Connections', description: 'Bring your own key: your keys of providers' },
      {
        name: 'Gateways',
        description: 'Self-hosted gateways: models and tools from behind a firewall',
      },
      { name: 'Billing', description: 'Balance, transactions and purchases of credit' },
      { name: 'Alerts', description: 'Notifications when a metric passes a threshold' },
      { name: 'Budgets', description: 'Limits on spending and requests per window of time' },
      { name: 'Notifications', description: 'The inbox of your account' },
      { name: 'Catalogue', description: 'Models, prices, favorites and ratings' },
      { name: 'Keys', description: 'Service keys of your account' },
      { name: 'Public', description: 'Public data, without a key' },
      { name: 'Organizations', description: 'Shared connections and credit' },
      { name: 'Request logs', description: 'Your requests to the model endpoints' },
      { name: 'Prompts', description: 'Saved prompts' },
      { name: 'Quota', description: 'Limits, their usage, and the cost of a request' },
      { name: 'Support', description: 'Support tickets' },
      { name: 'Automation', description: 'Stored conversations and their templates' },
      {
        name: 'Playground',
        description: 'Model endpoints for the dashboard, which has a session in place of a key',
      },
    ],
  },
  operator: {
    classes: ['operator'],
    description: {
      ...common,
      info: {
        title: 'Tollgate: operator endpoints',
        version,
        description: operatorConventions,
        license,
      },
      security: [{ operatorKey: [] }],
    },
    securitySchemes: {
      operatorKey: {
        type: 'http',
        scheme: 'bearer',
        description:
          'The operator key: `ADMIN_KEY`, or `admin-key` in the data directory. Sessions of accounts with a role of operators are accepted too.',
      },
    },
    tags: [
      { name: 'Users', description: 'Accounts, their keys and their data' },
      { name: 'Organizations', description: 'Organizations of all accounts' },
      { name: 'SCIM', description: 'Directories by which identity providers provision accounts' },
      { name: 'Plans', description: 'Limits that accounts share' },
      { name: 'Credits', description: 'Grants and adjustments of credit, and all transactions' },
      { name: 'Providers', description: 'Built-in and custom providers' },
      { name: 'Models', description: 'The catalogue and its prices' },
      { name: 'Connections', description: 'Connections of the platform' },
      { name: 'Collections', description: 'Collections that every account may call' },
      { name: 'Quota requests', description: 'Requests for higher limits' },
      { name: 'Request logs', description: 'Requests of all accounts' },
      { name: 'Support', description: 'Tickets of all accounts' },
      { name: 'Branding', description: 'Name, logo and colors of the installation' },
      { name: 'Configuration', description: 'Settings that take effect without a restart' },
      { name: 'Audit log', description: 'Changes and exports by operators' },
      { name: 'System', description: 'State of the installation' },
    ],
  },
}

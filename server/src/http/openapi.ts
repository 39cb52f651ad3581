import type { Hono } from 'hono'
import { generateSpecs, type GenerateSpecOptions } from 'hono-openapi'
import { complete, type Description } from './describe-operations'
import type { Env } from './env'
import { registryOf } from './guards'

/** Conventions of all operations; docs/api.md has more of them. */
const conventions = [
  'A gateway to language models. Existing OpenAI clients work with `{base_url}/v1` and a Tollgate key, Anthropic clients with `{base_url}`.',
  '**Errors** are `{error: {type, code, message, param, details}}`: act on `code`. Repeat what has `Retry-After` when it says, and nothing with `x-should-retry: false`.',
  '**Lists** have `pagination`: ask on with `cursor` set to its `next_cursor`.',
  '**Ids** of others look like ids of nothing: 404. **Money** is USD as a number with up to 9 decimals, prices are for 1,000,000 tokens. **Times** are ISO 8601 in UTC.',
  '**Headers** of answers: `x-request-id`, `X-RateLimit-Limit`, `X-RateLimit-Remaining`, `X-RateLimit-Reset`, and of models `x-tollgate-cost`, `x-tollgate-provider` and, where `max_tokens` of a message was lowered to what the model produces, `x-tollgate-max-tokens`. An `Idempotency-Key` makes repeating a POST of `/v1` safe for 24 hours.',
].join('\n\n')

const common = {
  openapi: '3.1.0',
  servers: [{ url: '/', description: 'Where this description was served' }],
}
const version = '0.1.0'
const license = { name: 'Apache-2.0', identifier: 'Apache-2.0' }

const operatorConventions = [
  'Endpoints below `/api/admin`. For everybody but operators they do not exist: 404. Errors, lists, ids, money and times are as in the [public description](/docs).',
  'Every change, and every export of an account, is recorded in the audit log.',
].join('\n\n')

/** The public description apart from its routes. */
const publicInterface: Partial<GenerateSpecOptions> = {
  documentation: {
    ...common,
    info: { title: 'Tollgate', version, description: conventions, license },
    security: [{ apiKey: [] }],
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            'A service key, `sk-tg-...`; below `/v1` also as `x-api-key`. The first start keeps one in `first-key` of its data directory.',
        },
      },
    },
    tags: [
      { name: 'Models', description: 'The OpenAI wire format' },
      { name: 'Model mappings', description: 'Names that clients insist on, led to other models' },
      { name: 'Model collections', description: 'Several models under one name' },
      { name: 'Settings', description: 'What you set for your account' },
      { name: 'Handle', description: 'A name for your own connections' },
      { name: 'Connections', description: 'Provider keys of your own' },
      {
        name: 'Gateways',
        description: 'Programs of your own that serve models from behind your door',
      },
      { name: 'Billing', description: 'Balance, what moved it, and buying credits' },
      { name: 'Alerts', description: 'Be told when something passes a threshold' },
      { name: 'Notifications', description: 'What you were told' },
      { name: 'Catalogue', description: 'Models, prices, favourites and ratings' },
      { name: 'Keys', description: 'Service keys of your account' },
      { name: 'Public', description: 'What anybody may see, without a key' },
      { name: 'Organizations', description: 'Shared connections and credit' },
      { name: 'Request logs', description: 'What you asked of the model endpoints' },
      { name: 'Prompts', description: 'Prompts that are kept' },
      { name: 'Quota', description: 'Limits, what is used of them, and what a request would cost' },
      { name: 'Support', description: 'Questions to the people who run this' },
      { name: 'Automation', description: 'Conversations that are kept, and their templates' },
    ],
  },
  exclude: [
    /^\/api\/admin/,
    /^\/api\/auth/,
    /^\/\*$/,
    /^\/api\/webhooks/,
    /^\/healthz$/,
    /^\/readyz$/,
    /^\/docs/,
  ],
}

/** The operators' description apart from its routes. */
const operatorInterface: Partial<GenerateSpecOptions> = {
  documentation: {
    ...common,
    info: {
      title: 'Tollgate: operator endpoints',
      version,
      description: operatorConventions,
      license,
    },
    security: [{ operatorKey: [] }],
    components: {
      securitySchemes: {
        operatorKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            'The operator key: `ADMIN_KEY`, or `admin-key` in the data directory. Sessions of accounts that are operators are let in too.',
        },
      },
    },
    tags: [
      { name: 'Users', description: 'Accounts, their keys and their data' },
      { name: 'Organizations', description: 'Organizations of all accounts' },
      { name: 'Plans', description: 'Limits that accounts share' },
      { name: 'Credits', description: 'Credit that is given and taken, and every movement' },
      { name: 'Providers', description: 'Providers that you added, and those that come along' },
      { name: 'Models', description: 'The catalogue and its prices' },
      { name: 'Connections', description: 'Connections of the platform' },
      { name: 'Collections', description: 'Collections that every account may call' },
      { name: 'Quota requests', description: 'Requests for higher limits' },
      { name: 'Support', description: 'Tickets of all accounts' },
      { name: 'Branding', description: 'How the installation presents itself' },
      { name: 'Configuration', description: 'Settings that change while servers run' },
      { name: 'Audit log', description: 'What operators changed and exported' },
      { name: 'System', description: 'How the installation fares' },
    ],
  },
  exclude: [/^(?!\/api\/admin\/)/],
}

/** The two descriptions. */
export type Audience = 'public' | 'operator'
const interfaces = { public: publicInterface, operator: operatorInterface }

const bounds = new Set(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'])

/** Every integer of JavaScript is below this; as a bound of a field it carries no information. */
const saysNothing = (name: string, value: unknown) =>
  (bounds.has(name) && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER) ||
  // An empty schema is the default.
  (name === 'additionalProperties' && JSON.stringify(value) === '{}')

const telling = (name: string, value: unknown) => (saysNothing(name, value) ? undefined : value)

/**
 * Describes an interface from its routes: OpenAPI 3.1 as JSON. The operators' interface has a document of its own,
 * as it is outside of the public interface: clients generated from the public one contain none of it.
 * Source: contract 9.2, 9.6.
 */
export async function describeInterface(
  app: Hono<Env>,
  audience: Audience = 'public',
): Promise<string> {
  const options = {
    ...interfaces[audience],
    excludeStaticFile: false,
    defaultValidationErrorResponse: false,
  }
  const told = JSON.stringify(await generateSpecs(app, options), telling)
  const document: Description = JSON.parse(told)
  keepUsed(document)
  complete(document, registryOf(app))
  return `${JSON.stringify(document, null, 2)}\n`
}

const references = /"#\/components\/schemas\/([^"]+)"/g

/** Drops components that no route of this description names: the generator adds those of all routes. */
function keepUsed(document: Description): void {
  const known = document.components?.schemas
  if (!known) return
  const used = new Set<string>()
  const follow = (value: unknown) => {
    for (const [, name = ''] of JSON.stringify(value ?? null).matchAll(references)) {
      if (used.has(name)) continue
      used.add(name)
      follow(known[name])
    }
  }
  follow(document.paths)
  document.components = {
    ...document.components,
    schemas: Object.fromEntries(Object.entries(known).filter(([name]) => used.has(name))),
  }
}

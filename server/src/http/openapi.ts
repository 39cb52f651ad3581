import type { Hono } from 'hono'
import { generateSpecs, type GenerateSpecOptions } from 'hono-openapi'
import { complete, type Description } from './described'
import type { Env } from './env'
import { registryOf } from './guards'

/** What holds for all operations; docs/api.md has more of it. */
const conventions = [
  'A gateway to language models. Existing OpenAI clients work with `{base_url}/v1` and a Tollgate key, Anthropic clients with `{base_url}`.',
  '**Errors** are `{error: {type, code, message, param, details}}`: act on `code`. Repeat what has `Retry-After` when it says, and nothing with `x-should-retry: false`.',
  '**Lists** have `pagination`: ask on with `cursor` set to its `next_cursor`.',
  '**Ids** of others look like ids of nothing: 404. **Money** is USD as a number with up to 9 decimals, prices are for 1,000,000 tokens. **Times** are ISO 8601 in UTC.',
  '**Headers** of answers: `x-request-id`, `X-RateLimit-Limit`, `X-RateLimit-Remaining`, `X-RateLimit-Reset`, and of models `x-tollgate-cost` and `x-tollgate-provider`. An `Idempotency-Key` makes repeating a POST of `/v1` safe for 24 hours.',
].join('\n\n')

/** What the description of the interface says beside its routes. */
const description: Partial<GenerateSpecOptions> = {
  documentation: {
    openapi: '3.1.0',
    info: {
      title: 'Tollgate',
      version: '0.1.0',
      description: conventions,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'Where this description was served' }],
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
  excludeStaticFile: false,
  defaultValidationErrorResponse: false,
}

const bounds = new Set(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'])

/** Every integer of JavaScript is below this; as a bound of a field it says nothing. */
const saysNothing = (name: string, value: unknown) =>
  (bounds.has(name) && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER) ||
  // An empty schema is the default.
  (name === 'additionalProperties' && JSON.stringify(value) === '{}')

const telling = (name: string, value: unknown) => (saysNothing(name, value) ? undefined : value)

/** The description of the interface, made from the routes: OpenAPI 3.1 as JSON. Source: api.md 20.6. */
export async function describeInterface(app: Hono<Env>): Promise<string> {
  const told = JSON.stringify(await generateSpecs(app, description), telling)
  const document: Description = JSON.parse(told)
  complete(document, registryOf(app))
  return `${JSON.stringify(document, null, 2)}\n`
}

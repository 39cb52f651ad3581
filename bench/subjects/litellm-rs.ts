import { join } from 'node:path'
import { SQL } from 'bun'
import { canned } from '../upstream/answers'
import type { Governance } from './governance'
import { post } from './management'
import { litellmRs, requireProgram } from './peers'
import { startProgram, type Place, type Program } from './program'
import type { Subject } from './subject'

const program = join(litellmRs.root, 'bin/gateway')
const secret = 'A9'.repeat(20)

/** More than any load, so that limits are counted and never reached. */
const endless = 1_000_000_000

/** Binds a model to the capabilities and the price of a known one; without a price a request is rejected. */
const identityOf = (model: string) => {
  const known = model === 'embed' ? 'text-embedding-3-small' : 'gpt-4o-mini'
  return [model, { capability_catalog_model: known, pricing_model: known }]
}

const providerOf = (port: number) => ({
  name: 'openai',
  provider_type: 'openai',
  api_key: 'sk-bench',
  base_url: `http://127.0.0.1:${port}/v1`,
  endpoint_access: 'private_network',
  rpm: endless,
  tpm: endless,
  max_concurrent_requests: 10_000,
  max_retries: 0,
  settings: {
    model_identity_mappings: Object.fromEntries(Object.keys(canned).map(identityOf)),
  },
  models: Object.keys(canned),
})

/** Returns its configuration; keys, limits, budgets and the ledger of requests where it is governed. */
function configurationOf({ port, provider, databaseUrl, redisUrl }: Place) {
  const governed = databaseUrl !== ''
  const max_connections = 10
  return {
    schema_version: '1.0',
    server: { host: '127.0.0.1', port, workers: 1, max_connections: 100_000 },
    providers: [providerOf(provider.port)],
    router: { strategy: 'round_robin' },
    storage: {
      database: {
        url: governed ? databaseUrl : 'postgresql://localhost/none',
        max_connections,
        enabled: governed,
        auto_migrate: governed,
      },
      redis: { url: governed ? redisUrl : 'redis://localhost:6379', enabled: governed },
      ...(governed && { request_ledger: { enabled: true } }),
    },
    auth: {
      enable_jwt: governed,
      enable_api_key: governed,
      jwt_secret: governed ? secret : '',
      allow_anonymous: !governed,
    },
    guardrails: { enabled: false },
    monitoring: { metrics: { enabled: false }, tracing: { enabled: false } },
    cache: { enabled: false },
    rate_limit: { enabled: governed, default_rpm: endless },
  }
}

type Own = Pick<Program, 'name' | 'title' | 'services' | 'createKey'> & { governance: Governance }

async function start(own: Own): Promise<Subject> {
  requireProgram(program)
  return startProgram({
    ...own,
    async command(place) {
      const path = join(place.directory, 'gateway.yaml')
      // JSON is YAML.
      await Bun.write(path, JSON.stringify(configurationOf(place)))
      return [program, '--config', path, '--log-level', 'warn']
    },
  })
}

const account = { username: 'bench', password: 'Tollgate-9-bench!' }

/** Creates an operator: it is made active in the database, as no mail is sent here. Returns its token. */
async function signIn({ databaseUrl }: Place, base: string): Promise<string> {
  await using sql = new SQL(databaseUrl, { max: 1 })
  const [users] = await sql`select count(*)::int as count from users`
  if (users.count === 0) {
    const body = { ...account, email: 'bench@example.com' }
    await post(`${base}/auth/register`, { body, textAt: ['data', 'user_id'] })
  }
  await sql`update users set status = 'active', role = 'admin'`
  return await post(`${base}/auth/login`, { body: account, textAt: ['data', 'access_token'] })
}

/** Creates the budgets, which live in Redis, and a key. */
async function createKey(place: Place): Promise<string> {
  const base = `http://127.0.0.1:${place.port}`
  const token = await signIn(place, base)
  const ofProvider = { provider: 'openai', max_budget: endless }
  await post(`${base}/v1/budget/providers`, {
    body: ofProvider,
    token,
    textAt: ['data', 'provider'],
  })
  for (const model of Object.keys(canned)) {
    const body = { model, max_budget: endless }
    await post(`${base}/v1/budget/models`, { body, token, textAt: ['data', 'model'] })
  }
  // The only limit of a key that it enforces.
  const body = { name: 'bench', rate_limits: { requests_per_minute: endless } }
  // Its keys have no scheme: what follows Bearer is a token of a session.
  return post(`${base}/v1/keys`, { body, token, textAt: ['data', 'key'] })
}

/** Starts litellm-rs without storage, keys and checks. */
export const startLitellmRs = () =>
  start({ name: 'litellm-rs', title: 'litellm-rs 0.9.0, bare', governance: { setting: 'bare' } })

/** Starts litellm-rs with keys, limits, budgets and its ledger of requests. */
export const startLitellmRsGoverned = () =>
  start({
    name: 'litellm-rs-governed',
    title: 'litellm-rs 0.9.0, governed',
    governance: {
      setting: 'governed',
      keys: 'in PostgreSQL',
      limits: 'requests of a key and of a model at its provider, in Redis',
      budgets: 'of providers and models, reserved in Redis',
      logs: 'a row a request',
      services: 'PostgreSQL, Redis',
    },
    services: ['PostgreSQL', 'Redis'],
    createKey,
  })
